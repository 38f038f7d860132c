// Package browsertest drives the page of "azsearch emulator -ui" in a headless
// Chromium, as a person would. It is a module of its own, so that what it needs
// for that never enters the go.mod of the SDK.
//
//	go test ./...
//
// It needs the program chromium or the path of one in AZSEARCH_CHROMIUM. Without,
// the tests are skipped, or fail if AZSEARCH_BROWSER is "required". They write
// pictures of the page to the folder in AZSEARCH_SCREENSHOTS, if it is set.
package browsertest
