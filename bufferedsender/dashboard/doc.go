// Package dashboard is for the team that runs a program with senders: a live page that shows what they do, as an
// http.Handler for the port on which the program has its metrics and its pprof.
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
// The page shows throughput, latency, what is buffered and for how long, requests in flight, the limits in force, the
// breaker with its reason and until when it is open, failures by reason with examples, and where a key is; of durable
// queues and outboxes how much waits and what has waited longest. It only reads. The same is JSON, for scripts:
//
//	GET …/state         everything, without what takes long
//	GET …/oldest        ?queue= or ?outbox=: what has waited longest, and dead letters
//	GET …/find          ?key=: where a key waits, is leased or parked
//
// No document is shown, and no explanation of the service that could quote one; keys are, unless Options.HideKeys.
// There is no login: let only those reach the address who may see it. A page of another site in the same browser can
// read nothing, also by DNS rebinding: requests for another Host than localhost, an address, or one of Options.Hosts
// are refused.
//
// The page looks once a second while it is visible. What has to be asked for, a queue or a database, is asked at most
// once in two, or ten, seconds, however many look; one that does not answer delays the page by a second at most.
package dashboard
