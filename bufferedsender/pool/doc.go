// Package pool shares request slots and buffer space among several senders of one search service, or among urgent and
// less urgent work on one index. It decides which request is next. For buffer space see Room. The package is
// experimental: its API may change in any release.
//
//	p, err := pool.New(&pool.Options{Expedited: 4, Shared: 8})
//	hotels, err := p.Join("hotels")
//	err = hotels.Do(ctx, models.ClassBestEffort, func(ctx context.Context) error { return export(ctx) })
//
// # What is promised
//
//   - A request that is not answered for long gives its slot to a waiting one. Its member then sends one request at a
//     time without a slot, small ones first, until they are answered. So indexes that hang or are slow do not stop the
//     others.
//   - Never more slots are in use than there are. A free slot is given to a waiting request unless it belongs to the
//     other side of the pool.
//   - Expedited has its own slots and waits for no other class. Each other class has one guaranteed slot while it has
//     work, or one turn in each round if there are fewer slots than classes. The remaining slots are lent to the most
//     urgent class, for one request at a time.
//   - Within a class members take turns by bytes, without credit for idle time. If all requests have the same size and
//     take about as long, each other member overtakes a waiting one at most once. A member whose requests take more
//     than four times as long as those of the faster ones gets fewer turns, but about twice the slots' time of another.
//   - A caller that gives up waiting leaves the line at once, without cost. Work that panics returns an error to its
//     caller and releases its slot.
//   - Each member that buffers something has a floor of room that is never lent. Lent room comes back as a member's
//     buffer empties, and members with an empty buffer come first.
//   - Shutdown reports the requests that it refused or left running.
//
// Work that asks for a slot of its own class while it has one can deadlock: do all of it in one slot, or ask in a class
// with other slots.
//
// DESIGN.md has the reasons.
package pool
