// Package interop tests the emulator with Azure's own SDKs for other languages, which run the scenarios of their
// documentation against "azsearch emulator". So the emulator is not tested with the client of this module alone.
//
// Each language has a folder with the scripts and the locked versions of the SDK. A test installs the SDK with the
// package manager of the language into a temporary directory. Because go test should not do that unasked, it runs
// only if AZSEARCH_INTEROP is set. If the language is not installed, or the SDK cannot be downloaded, the test is
// skipped with the reason; with AZSEARCH_INTEROP=required it fails.
package interop
