// Package pool is for programs with several senders on one search service, and for those with urgent and
// less urgent work on one index: it has a number of request slots, and says whose turn it is. It also has room for
// what the senders buffer together, see Room.
// The package is experimental: its API may change in any release.
//
//	p, err := pool.New(&pool.Options{Expedited: 4, Shared: 8})
//	hotels, err := p.Join("hotels")
//	err = hotels.Do(ctx, models.ClassBestEffort, func(ctx context.Context) error { return export(ctx) })
//
// # What is promised
//
//   - A request that is not answered for long gives its slot to who waits, and its member sends one request at a time
//     without a slot, small ones first, until they are answered: indexes that hang or are slow do not stop the others.
//   - Never more slots are in use than there are, and one that is free is given to somebody who waits for
//     it, unless it belongs to the other side of the pool.
//   - Expedited has slots of its own and waits for no other class. Each of the other classes has one slot for certain
//     while it has work, or one turn in each round where there are fewer slots than classes; what is left is lent to
//     the most urgent, for one request at a time.
//   - Within a class members take turns by bytes, without credit for having been idle: of members whose requests are
//     of one size each is passed by each other once at the most.
//   - Who gives up waiting leaves at once and costs nothing. Work that panics costs its caller an error, and nobody a
//     slot.
//   - Each member that buffers something has a floor of room that is never lent. What is lent comes back as what a
//     member has buffered falls; and who has nothing comes first.
//   - Shutdown says what was not done.
//
// Work that asks for a slot of its own class while it has one can wait for itself: give a piece of work all that it
// needs, or ask in a class with other slots.
//
// DESIGN.md says why.
package pool
