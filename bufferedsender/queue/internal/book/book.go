// Package book is the state of a durable queue whose index is in memory, for the back ends filequeue and memqueue:
// which records wait, are leased or parked, and in which order. It implements the rules of ../../DESIGN.md. It uses no
// files, locks or clocks: callers pass the time. It is not safe for concurrent use. It is deterministic, so that a log
// can be replayed.
//
// A simple key has one record and waits for the first time. It costs a node, a place in a heap and one in an index:
// about 80 bytes with a reference of 12 bytes. Its name is not kept, only 128 bits of a hash with a random seed; the
// back end reads the name from the record. The probability that two of a billion keys collide is 10⁻²⁰.
package book

import (
	"hash/maphash"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Ref is the location of a record, with the size of its key and body.
type Ref interface{ Bytes() int }

// Rec is a record in the book.
type Rec[R Ref] struct {
	Seq      uint64 // rises with each record
	Ref      R
	Replaces bool
}

// place orders keys: class, milliseconds since 1970, number of the record, in 3, 42 and 19 bits. Half a million records
// in one millisecond keep their order.
type place uint64

const (
	arrivalBits = 19
	timeBits    = 42
)

func newPlace(class uint8, ms int64, seq uint64) place {
	return place(class)<<(timeBits+arrivalBits) | place(ms&(1<<timeBits-1))<<arrivalBits | place(seq&(1<<arrivalBits-1))
}

func (p place) class() uint8 { return uint8(p >> (timeBits + arrivalBits)) }

func (p place) ms() int64 { return int64(p >> arrivalBits & (1<<timeBits - 1)) }

const allButClass = 1<<(timeBits+arrivalBits) - 1

// ofClass returns the place in another class.
func (p place) ofClass(class uint8) place {
	return p&allButClass | place(class)<<(timeBits+arrivalBits)
}

// withClass returns the place in the more urgent of two classes.
func (p place) withClass(class uint8) place { return p.ofClass(min(p.class(), class)) }

// instant is a time of the monotonic clock of the process, relative to the creation of the book.
type instant int64

const never, longAgo instant = math.MaxInt64, math.MinInt64

// hash identifies a key.
type hash [2]uint64

// node is a key in the book.
type node[R Ref] struct {
	id    hash
	place place    // of the pile
	gen   uint32   // when the pile got its place
	at    slot     // in a heap
	era   uint32   // see Book.Era
	first Rec[R]   // the oldest of the pile, if it waits
	more  *more[R] // nil for a simple key
}

// more is the state of a key that is not simple.
type more[R Ref] struct {
	rest []Rec[R] // of the pile, after first

	leased      []Rec[R]
	leasedPlace place
	leasedGen   uint32
	from        *reservation
	until       instant // end of the lease
	uncertain   time.Duration
	requested   bool // see queue.Lease

	parked         []Rec[R]
	parkedPlace    place
	parkedAt       int64 // ms since 1970
	reason         string
	replaced       *Rec[R]
	replacedReason string

	expired, deaths, tries int
	due                    instant // see End.After
	quiet                  instant // see End.Uncertain
	vacant                 bool    // only quiet is set
}

// dueAt returns when the key may be reserved.
func (m *more[R]) dueAt() instant { return max(m.due, m.quiet) }

// reservation is the leases of one Reserve.
type reservation struct {
	token queue.ID
	by    *holder
	name  string
	live  int // keys that are still leased
}

// holder is a process with leases.
type holder struct {
	id       queue.ID
	leases   int
	suspects int  // of its leases
	company  bool // it has had more than one lease since it last had none
	alone    bool // its only lease is a suspect that goes alone
}

// Book is the state of a queue.
//
//archtest:long owed: generations are a part of their own
type Book[R Ref] struct {
	MaxKeys  int   // 0: any number
	MaxBytes int64 // 0: any number
	// Era is recorded with each key that comes into the book or is restored. For a log it is the number of a segment:
	// the state of a key depends only on what was written from that segment on.
	Era  uint32
	eras map[uint32]int // number of keys by Era, see setEra

	start time.Time
	seeds [2]maphash.Seed
	index index
	nodes slab[R]

	ready, suspects, lone, delayed, leases heap // of nodes

	reservations map[queue.ID]*reservation
	holders      map[queue.ID]*holder
	emptying     instant // until then holders with leases get nothing while a suspect waits to go alone

	seq    uint64
	gen    uint32
	gens   map[uint32]int // unsettled places by generation
	bytes  int64
	recs   int64 // records counted in bytes, see keep
	texts  int64 // bytes of reasons
	counts struct{ appended, replaced, folded, stale, expired int64 }

	waiting, leased, parked int64 // keys
	parkedBytes             int64 // of parked keys and bodies
	replacedBytes           int64 // of Entry.Replaced, which no bound counts
	quiets                  int   // keys for which only the end of an Uncertain is kept

	ripe bool // see Ripe

	paused       bool
	pauseReason  string
	lastReserved time.Time
}

// New returns an empty book.
func New[R Ref](now time.Time) *Book[R] {
	b := &Book[R]{
		start: now, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, gen: 1, emptying: longAgo,
		reservations: make(map[queue.ID]*reservation), holders: make(map[queue.ID]*holder), gens: make(map[uint32]int),
		eras: make(map[uint32]int),
	}
	b.clear()
	return b
}

// clear frees all memory when the book is empty.
func (b *Book[R]) clear() {
	b.index = index{}
	b.nodes = slab[R]{moves: b.nodes.moves + 1}
	for k := range kinds {
		*b.heapOf(k) = heap{kind: k}
	}
}

func (b *Book[R]) instant(now time.Time) instant { return instant(now.Sub(b.start)) }

func (b *Book[R]) time(i instant) time.Time { return b.start.Add(time.Duration(i)) }

// after returns the instant plus d, without overflow.
func (i instant) after(d time.Duration) instant {
	if sum := i + instant(d); sum >= i {
		return sum
	}
	return never
}

func (b *Book[R]) hash(key string) hash {
	return hash{maphash.String(b.seeds[0], key), maphash.String(b.seeds[1], key)}
}

// find returns the node of a key, nil if the key is not in the book.
func (b *Book[R]) find(key string) *node[R] {
	n, _ := b.lookup(b.hash(key))
	return n
}

func (b *Book[R]) lookup(id hash) (*node[R], int32) {
	i := b.findNode(id)
	if i < 0 {
		return nil, 0
	}
	return b.nodes.at(i), i
}

// obtain returns the node of a key, and makes it if necessary.
func (b *Book[R]) obtain(key string) (*node[R], int32) {
	id := b.hash(key)
	if n, i := b.lookup(id); n != nil {
		return n, i
	}
	i := b.nodes.take()
	n := b.nodes.at(i)
	*n = node[R]{id: id, at: nowhere}
	b.setEra(n)
	b.enter(i)
	return n, i
}

// The key must have no state left.
func (b *Book[R]) forget(n *node[R], i int32) {
	b.strike(i)
	b.leaveEra(n)
	*n = node[R]{at: nowhere}
	b.nodes.free(i)
	if b.nodes.used == 0 {
		b.clear()
	}
}

// extra returns the state of a key that is not simple, and makes it if necessary.
func (n *node[R]) extra() *more[R] {
	if n.more == nil {
		n.more = &more[R]{}
	}
	return n.more
}

func (n *node[R]) isLeased() bool { return n.more != nil && len(n.more.leased) > 0 }

func (n *node[R]) isParked() bool { return n.more != nil && len(n.more.parked) > 0 }

func (n *node[R]) isSuspect() bool { return n.more != nil && n.more.expired > 0 }

// waits reports whether the key has a pile.
func (n *node[R]) waits() bool { return n.first.Seq != 0 }

// vacant reports whether the key has no records in the queue.
func (n *node[R]) vacant() bool { return !n.waits() && !n.isLeased() && !n.isParked() }

// pile returns how many records wait.
func (n *node[R]) pile() int {
	switch {
	case !n.waits():
		return 0
	case n.more == nil:
		return 1
	}
	return 1 + len(n.more.rest)
}
