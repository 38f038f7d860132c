// Package dashboard is for the team that runs a program with senders: a live page of their state, as an http.Handler
// for the program's port for metrics and pprof.
// The package is experimental: its API may change in any release.
//
//	var recent dashboard.Recent
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{Handlers: dashboard.Watch[Hotel](&recent, "hotels")})
//	…
//	mux.Handle("/debug/senders/", dashboard.New(dashboard.Options{
//		Senders: map[string]bufferedsender.Observable{"hotels": sender},
//		Recent:  &recent,
//	}))
//
// The page shows throughput, latency, size and age of the buffer, requests in flight, current limits, the breaker with
// its reason and the end of its open state, failures by reason with examples, and the location of a key. For durable
// queues and outboxes it shows how much waits and what has waited longest. It only reads. The same data is available as
// JSON:
//
//	GET …/state         everything, without what takes long
//	GET …/oldest        ?queue= or ?outbox=: what has waited longest, and dead letters
//	GET …/find          ?key=: where a key waits, is leased or parked
//
// The page shows no documents, and no explanation of the service that could quote one. It shows keys unless
// Options.HideKeys is set. There is no login: restrict access to the address. Pages of other sites in the same browser
// cannot read it, not even by DNS rebinding, because requests for a Host other than localhost, an address or one of
// Options.Hosts are refused.
//
// The page refreshes once a second while it is visible. Queues are asked at most once in two seconds and databases once
// in ten, however many pages are open. One that does not answer delays the page by at most a second.
package dashboard
