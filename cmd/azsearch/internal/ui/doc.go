// Package ui implements the page of "azsearch emulator -ui". It shows indexes and documents, sends queries, lists
// requests as they arrive, and injects faults.
//
// The page is one HTML file with style and scripts, all embedded; it loads nothing from outside the emulator. It
// sends queries to the REST API of the emulator with a query key, like any client, so they are in the request log.
// What the REST API does not return comes as JSON from URLs below /_ui/. The emulator never receives these requests,
// so watching does not change what is watched.
//
//	GET    /_ui/session        the api-version, the query key, and scripts to choose from
//	GET    /_ui/state          the indexes, the names of other definitions, the active script, and requests since ?after=
//	GET    /_ui/requests/{seq} everything known about one request
//	GET    /_ui/definition     the definition of ?index=, or of ?kind= and ?name=
//	GET    /_ui/documents      ?top= documents of ?index= from ?skip=; large ones are cut
//	GET    /_ui/document       the complete document of ?index= with ?key=
//	PUT    /_ui/faults         activates a script in the format of searchtest.ParseFaults
//	DELETE /_ui/faults         deactivates it
//
// Everyone who can reach the page can read every document and make the emulator fail, so serve it on loopback only.
// A page of another origin in the same browser can neither read nor change anything: see package webpage.
package ui
