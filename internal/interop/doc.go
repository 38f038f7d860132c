// Package interop is for whoever changes the emulator: its tests let Azure's own
// SDKs of other languages drive "azsearch emulator" through the scenarios of
// their manuals, so that it is not only our own client that it agrees with.
//
// The scripts and the locked versions of the SDKs are in one folder for each
// language. A test fetches an SDK with the ordinary tool of its language, into a
// temporary folder, which nobody expects of go test: it does so only where
// AZSEARCH_INTEROP is set. Where the language is not installed, or nothing can be
// fetched, the test is skipped and says what is missing; AZSEARCH_INTEROP=required
// turns that into a failure.
package interop
