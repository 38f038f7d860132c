// Package browsertest drives the page of "azsearch emulator -ui" in a headless Chromium. It is a separate module, so
// that its dependencies never enter the go.mod of the SDK.
//
//	go test ./...
//
// It needs chromium in the PATH, or its path in AZSEARCH_CHROMIUM. Without it the tests are skipped, or fail if
// AZSEARCH_BROWSER is "required". If AZSEARCH_SCREENSHOTS names a folder, the tests write pictures of the page to
// it.
package browsertest
