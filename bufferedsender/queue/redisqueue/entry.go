package redisqueue

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// entry is the state of a key in a shard, with the numbers of its records.
type entry struct {
	queue.Entry
	place               place
	front, pile, former string // numbers, sizes and flags of records, 11 bytes each
	kind                byte   // of front: 1 leased, 2 parked
}

type place struct {
	class   byte
	ms      int64
	arrival uint64
}

// shardTime is the time of the server, and how far the time of the shard is ahead of it: see shard.lua.
type shardTime struct{ time, ahead int64 }

// real converts a time of the shard to the present time of the server.
func (t shardTime) real(ms int64) time.Time { return time.UnixMilli(ms - t.ahead) }

// cutter cuts fields off a string, and records if it was too short.
type cutter struct {
	s    string
	fail bool
}

func (c *cutter) take(n int) string {
	if n > len(c.s) {
		c.fail = true
		return string(make([]byte, n))
	}
	t := c.s[:n]
	c.s = c.s[n:]
	return t
}

func (c *cutter) u8() byte     { return c.take(1)[0] }
func (c *cutter) u16() int     { s := c.take(2); return int(s[0])<<8 | int(s[1]) }
func (c *cutter) u32() int     { return int(get32(c.take(4))) }
func (c *cutter) u48() uint64  { return get48(c.take(6)) }
func (c *cutter) place() place { return place{c.u8(), int64(c.u48()), c.u48()} } //nolint:gosec // 48 bits

// parseEntry reads an entry in the same way as decode of shard.lua.
//
//	lo 1, fk 1, ex 2, de 1, tr 2, place of the pile: class 1, ms 6, arrival 6, generation 4;
//	due 6, uncertain 6, length of the pile 4, pile
//
// If a record is leased or parked, or was replaced, there follow
//
//	place of the leased or parked records 17, end of the lease or time of parking 6, lengths: front 4,
//	reason 2, replaced 1; token and part 18 if leased, front, reason, replaced, its reason
func parseEntry(key, raw string, now shardTime) (e entry, err error) {
	c := &cutter{s: raw}
	e.Key = key
	_ = c.u8()
	e.kind = c.u8()
	e.Expired, e.Deaths, e.Tries = c.u16(), int(c.u8()), c.u16()
	e.place = c.place()
	_ = c.take(4)
	due := max(c.u48(), c.u48())
	e.pile = c.take(c.u32())
	var front place
	var at uint64
	if len(c.s) > 0 {
		front = c.place()
		_ = c.take(4)
		at = c.u48()
		nfront, nreason, nformer := c.u32(), c.u16(), int(c.u8())
		if e.kind == 1 {
			_ = c.take(18)
		}
		e.front = c.take(nfront)
		e.Reason = c.take(nreason)
		e.former = c.take(nformer)
		e.ReplacedReason = c.s
	}
	if c.fail {
		return e, fmt.Errorf("redisqueue: malformed entry of %q", key)
	}
	if e.pile != "" {
		e.State |= queue.Waiting
	}
	switch e.kind {
	case 1:
		e.State |= queue.Leased
		e.Reason = ""                                 // for a leased key, Reason holds the requested flag
		e.place, e.Until = front, now.real(int64(at)) //nolint:gosec // 48 bits
	case 2:
		e.State |= queue.Parked
		e.place, e.ParkedAt = front, now.real(int64(at)) //nolint:gosec // 48 bits
	}
	e.Since, e.Class = now.real(e.place.ms), e.place.class
	if t := now.real(int64(due)); t.UnixMilli() > now.time { //nolint:gosec // 48 bits
		e.Due = t
	}
	return e, nil
}

// fill reads the records of an entry.
func (e *entry) fill(r *rediskit.Reader, bodies bool) {
	records := func(items string) []queue.Record {
		var seqs string
		for i := 0; i+11 <= len(items); i += 11 {
			seqs += items[i : i+6]
		}
		if seqs == "" {
			return nil
		}
		out := recordsOf(r, e.Key, seqs)
		for i := range out {
			if !bodies {
				out[i].Body = nil
			}
		}
		return out
	}
	front := records(e.front)
	if e.kind == 1 {
		e.Leased = front
	} else {
		e.Parked = front
	}
	e.Waiting = records(e.pile)
	if former := records(e.former); len(former) == 1 {
		e.Replaced = &former[0]
	}
}

// compareEntries is the order of Inspect: by place; parked entries last, by time of parking.
func compareEntries(a, b entry) int {
	if x, y := a.State&queue.Parked, b.State&queue.Parked; x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Or(a.ParkedAt.Compare(b.ParkedAt), cmp.Compare(a.place.class, b.place.class), cmp.Compare(a.place.ms, b.place.ms),
		cmp.Compare(a.place.arrival, b.place.arrival), cmp.Compare(a.Key, b.Key))
}
