// Package retry is for code that must decide whether to send something to
// Azure AI Search again, and when. It holds the one table of verdicts that the
// buffered sender obeys, the jittered back-off, and the parser of the four
// headers with which the service asks for patience.
// The package is stable.
//
// Nothing in it keeps state or waits; everything is safe for concurrent use.
package retry
