// Package retry decides whether to send a request to Azure AI Search again, and when. It has the table of verdicts that
// the buffered sender uses, the back-off with jitter, and the parser of the headers with which the service asks for a
// delay.
// The package is stable.
//
// The package keeps no state and never blocks; everything is safe for concurrent use.
package retry
