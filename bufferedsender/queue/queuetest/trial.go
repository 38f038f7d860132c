package queuetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// trial is one test of the suite: a queue, an adder, and the helpers of the tests. Keys of one character stand for keys
// of one shard.
type trial struct {
	t      *testing.T
	h      *Harness
	ctx    context.Context
	adder  queue.ID
	number uint64
	named  map[string]string // one character to key
	letter map[string]string // key to character
	people map[string]queue.ID
}

// lease is the default duration of leases in the tests.
const lease = time.Minute

func newTrial(t *testing.T, h *Harness) *trial {
	c := &trial{
		t: t, h: h, ctx: context.Background(), adder: queue.NewID(),
		named: map[string]string{}, letter: map[string]string{}, people: map[string]queue.ID{},
	}
	for i, k := range h.together(26) {
		l := string(rune('a' + i))
		c.named[l], c.letter[k] = k, l
	}
	return c
}

func upload(key, body string) queue.Record { return record(key, models.ActionTypeUpload, body) }
func merge(key, body string) queue.Record  { return record(key, models.ActionTypeMerge, body) }
func remove(key, body string) queue.Record { return record(key, models.ActionTypeDelete, body) }
func changed(key string) queue.Record      { return queue.Record{Key: key} }

func record(key string, op models.ActionType, body string) queue.Record {
	return queue.Record{Key: key, Op: op, Body: []byte(body)}
}

// since returns the record with that Since.
func since(r queue.Record, at time.Time) queue.Record {
	r.Since = at
	return r
}

// class returns the record with that class of service.
func class(r queue.Record, class uint8) queue.Record {
	r.Class = class
	return r
}

// key returns the key for a character; any other word is itself a key.
func (c *trial) key(word string) string {
	if k := c.named[word]; k != "" {
		return k
	}
	return word
}

func (c *trial) keys(words ...string) []string {
	keys := make([]string, len(words))
	for i, w := range words {
		keys[i] = c.key(w)
	}
	return keys
}

// call returns the next call of the adder.
func (c *trial) call(records ...queue.Record) queue.Call {
	c.number++
	records = slices.Clone(records)
	for i := range records {
		records[i].Key = c.key(records[i].Key)
	}
	return queue.Call{Adder: c.adder, Number: c.number, Records: records}
}

// send appends a call, which must succeed.
func (c *trial) send(call queue.Call) queue.Receipt {
	c.t.Helper()
	receipt, err := c.h.Queue.Append(c.ctx, call)
	c.noError(err, "Append")
	return receipt
}

// add appends records in one call.
func (c *trial) add(records ...queue.Record) queue.Receipt {
	c.t.Helper()
	return c.send(c.call(records...))
}

// asking changes a Want.
type asking func(*queue.Want)

// want returns a request for keys by the holder A, under a new token.
func (c *trial) want(keys int, asking ...asking) queue.Want {
	w := queue.Want{Token: queue.NewID(), Holder: c.person("A"), Name: "A", Keys: keys, Bytes: 1 << 40 >> 10, For: lease}
	for _, change := range asking {
		change(&w)
	}
	for i, k := range w.Only {
		w.Only[i] = c.key(k)
	}
	return w
}

// person returns the ID of a holder.
func (c *trial) person(name string) queue.ID {
	if c.people[name] == (queue.ID{}) {
		c.people[name] = queue.NewID()
	}
	return c.people[name]
}

func (c *trial) by(name string) asking {
	return func(w *queue.Want) { w.Holder, w.Name = c.person(name), name }
}
func lasting(d time.Duration) asking   { return func(w *queue.Want) { w.For = d } }
func uncertain(d time.Duration) asking { return func(w *queue.Want) { w.Uncertain = d } }
func bytes(n int) asking               { return func(w *queue.Want) { w.Bytes = n } }

// exactly replaces the whole Want by w.
func exactly(w queue.Want) asking { return func(x *queue.Want) { *x = w } }
func only(keys ...string) asking {
	return func(w *queue.Want) { w.Only, w.Keys = slices.Clone(keys), len(keys) }
}

// reserve leases keys.
func (c *trial) reserve(keys int, asking ...asking) []queue.Lease {
	c.t.Helper()
	leases, err := c.h.Queue.Reserve(c.ctx, c.want(keys, asking...))
	c.noError(err, "Reserve")
	return leases
}

// take leases keys, which must match the lines.
func (c *trial) take(keys int, lines ...string) []queue.Lease {
	c.t.Helper()
	leases := c.reserve(keys)
	c.expect(leases, lines...)
	return leases
}

// nothing fails unless Reserve returns nothing.
func (c *trial) nothing(why string, asking ...asking) {
	c.t.Helper()
	if got := c.reserve(queue.MaxCall, asking...); len(got) > 0 {
		c.t.Fatalf("%s: Reserve returned %q", why, c.lines(got))
	}
}

// expect compares leases with lines, one for each lease: the key, then operation and body of each record.
func (c *trial) expect(got []queue.Lease, lines ...string) {
	c.t.Helper()
	if have := c.lines(got); !slices.Equal(have, lines) {
		c.t.Fatalf("leased:\n\t%s\nwant:\n\t%s", strings.Join(have, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

// expectAny is expect without the order of the keys.
func (c *trial) expectAny(got []queue.Lease, lines ...string) {
	c.t.Helper()
	have := c.lines(got)
	slices.Sort(have)
	slices.Sort(lines)
	if !slices.Equal(have, lines) {
		c.t.Fatalf("leased, in any order:\n\t%s\nwant:\n\t%s", strings.Join(have, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

func (c *trial) lines(leases []queue.Lease) []string {
	lines := make([]string, len(leases))
	for i, l := range leases {
		lines[i] = c.line(l.Key, l.Records)
	}
	return lines
}

func (c *trial) line(key string, records []queue.Record) string {
	if l := c.letter[key]; l != "" {
		key = l
	}
	line := key + ":"
	for _, r := range records {
		op := string(r.Op)
		if op == "" {
			op = "changed"
		}
		line = strings.TrimRight(fmt.Sprintf("%s %s %s", line, op, r.Body), " ")
	}
	return line
}

// ends returns the ends of leases.
func ends(fate queue.Fate, leases []queue.Lease, change ...func(*queue.End)) []queue.End {
	out := make([]queue.End, len(leases))
	for i, l := range leases {
		out[i] = queue.End{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: fate}
		for _, f := range change {
			f(&out[i])
		}
	}
	return out
}

func done(n int) func(*queue.End)             { return func(e *queue.End) { e.Done = n } }
func after(d time.Duration) func(*queue.End)  { return func(e *queue.End) { e.After = d } }
func unsure(d time.Duration) func(*queue.End) { return func(e *queue.End) { e.Uncertain = d } }
func reason(words string) func(*queue.End)    { return func(e *queue.End) { e.Reason = words } }
func again(e *queue.End)                      { e.Again = true }

// settle ends leases and returns the stale ones. None may fail.
func (c *trial) settle(ends ...queue.End) []queue.Lease {
	c.t.Helper()
	stale, failed, err := c.h.Queue.Settle(c.ctx, ends...)
	c.noError(err, "Settle")
	if len(failed) > 0 {
		c.t.Fatalf("Settle: %d failed without an error", len(failed))
	}
	return stale
}

// end ends leases that are still valid.
func (c *trial) end(fate queue.Fate, leases []queue.Lease, change ...func(*queue.End)) {
	c.t.Helper()
	if stale := c.settle(ends(fate, leases, change...)...); len(stale) > 0 {
		c.t.Fatalf("stale: %q", c.lines(stale))
	}
}

func (c *trial) commit(leases []queue.Lease) { c.t.Helper(); c.end(queue.Commit, leases) }

// stale ends leases that have ended before.
func (c *trial) stale(fate queue.Fate, leases []queue.Lease) {
	c.t.Helper()
	if stale := c.settle(ends(fate, leases)...); len(stale) != len(leases) {
		c.t.Fatalf("%d ends were stale, want all %d", len(stale), len(leases))
	}
}

func (c *trial) stats() queue.Stats {
	c.t.Helper()
	s, err := c.h.Queue.Stats(c.ctx)
	c.noError(err, "Stats")
	return s
}

// counts compares the number of keys by state.
func (c *trial) counts(waiting, leased, parked int64) {
	c.t.Helper()
	if s := c.stats(); s.Waiting != waiting || s.Leased != leased || s.Parked != parked {
		c.t.Fatalf("%d waiting, %d leased, %d parked, want %d, %d, %d", s.Waiting, s.Leased, s.Parked, waiting, leased, parked)
	}
}

// settled compares Settled.
func (c *trial) settled(at queue.Position, want bool, when string) {
	c.t.Helper()
	got, err := c.h.Queue.Settled(c.ctx, at)
	c.noError(err, "Settled")
	if got != want {
		c.t.Fatalf("Settled is %v %s", got, when)
	}
}

func (c *trial) admin() queue.Admin {
	c.t.Helper()
	a, ok := c.h.Queue.(queue.Admin)
	if !ok {
		c.t.Fatal("the queue does not implement queue.Admin")
	}
	return a
}

// entry inspects one key.
func (c *trial) entry(word string) queue.Entry {
	c.t.Helper()
	entries, err := c.admin().Inspect(c.ctx, queue.Inspection{Keys: c.keys(word), Bodies: true})
	c.noError(err, "Inspect")
	if len(entries) != 1 {
		c.t.Fatalf("Inspect of %s: %d entries", word, len(entries))
	}
	return entries[0]
}

// did compares the number of keys that an Admin method has changed.
func (c *trial) did(n int, err error, want int, what string) {
	c.t.Helper()
	c.noError(err, what)
	if n != want {
		c.t.Fatalf("%s: %d keys, want %d", what, n, want)
	}
}

func (c *trial) noError(err error, what string) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

// is compares an error.
func (c *trial) is(err, want error, what string) {
	c.t.Helper()
	if !errors.Is(err, want) {
		c.t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}

// equal compares two values.
func equal[T comparable](c *trial, got, want T, what string) {
	c.t.Helper()
	if got != want {
		c.t.Fatalf("%s: %v, want %v", what, got, want)
	}
}
