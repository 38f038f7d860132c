// Package ui is for people who want to watch the emulator: the page of
// "azsearch emulator -ui". It shows indexes and documents, sends queries, lists
// the requests as they come and lets things go wrong.
//
// The page is one HTML file with its style and scripts, all embedded: it asks for
// nothing outside of the emulator. Its queries go to the REST API of the emulator
// like anybody's, with a query key, and are in the request log. What that API does
// not tell comes as JSON from addresses below /_ui/, which the emulator does not
// know: looking leaves no trace in what is looked at.
//
//	GET    /_ui/session        the api-version, the query key, and scripts to choose from
//	GET    /_ui/state          the indexes, the names of other definitions, the script in force, and requests since ?after=
//	GET    /_ui/requests/{seq} all that is known of one request
//	GET    /_ui/definition     the definition of ?index=, or of ?kind= and ?name=
//	GET    /_ui/documents      documents of ?index=, from ?skip= on, ?top= of them, large ones cut off
//	GET    /_ui/document       the one of ?index= with ?key=, whole
//	PUT    /_ui/faults         puts a script in force, as searchtest.ParseFaults reads it
//	DELETE /_ui/faults         ends it
//
// Whoever can see the page can see every document and make the emulator fail, so
// it is for loopback. A page of somebody else's in the same browser can neither
// read nor change anything: see package webpage.
package ui
