package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// TestModel writes, rotates, replays, discards, fails and crashes at random, and compares with a list of the expected
// dead letters. The service keeps the last applied version; no key may go back.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"write":   m.write,
			"newer":   m.newer,
			"replay":  m.replay,
			"late":    m.late,
			"discard": m.discard,
			"crash":   m.crash,
			"kill":    m.kill,
			"reopen":  m.reopen,
		})
		m.drain()
	})
}

type presence int

const (
	there presence = iota
	maybe          // until the next crash
	gone
)

type item struct {
	v   int
	key string
	is  presence
	// outdated means that a newer version is applied: it must not be sent any more.
	outdated bool
	reasons  []string // possible messages
}

// flight is an action that Replay did not wait for.
type flight struct {
	it  *item
	tag any
}

type model struct {
	rt      *rapid.T
	d       *disktest.Disk
	f       *File
	options FileOptions
	items   []*item
	applied map[string]int // version by key
	flights []flight
	reason  int
	broken  bool // a disk change of the current operation has failed
}

func newModel(rt *rapid.T) *model {
	m := &model{rt: rt, d: disktest.New(), applied: map[string]int{}}
	m.options = (&FileOptions{maxFileBytes: rapid.SampledFrom([]int64{1, 900, 4000}).Draw(rt, "MaxFileBytes")}).withDefaults()
	m.open()
	return m
}

func (m *model) open() {
	f, err := open(m.d, m.options)
	if err != nil {
		m.rt.Fatalf("Open: %v", err)
	}
	m.f = f
}

// failing may let the disk fail once during the operation. certain is the state if it did not fail.
func (m *model) failing(rt *rapid.T, operation func()) (certain bool) {
	m.broken = false
	if at := rapid.IntRange(-8, 12).Draw(rt, "disk fails at change"); at >= 0 {
		n := 0
		m.d.Fail = func(op, name string) error {
			if n++; n == at+1 {
				m.broken = true
				return fmt.Errorf("%s of %s: %w", op, name, disktest.ErrDisk)
			}
			return nil
		}
	}
	operation()
	m.d.Fail = nil
	return !m.broken
}

func (m *model) write(rt *rapid.T) {
	var letters []Letter
	var items []*item
	for range rapid.IntRange(1, 4).Draw(rt, "letters") {
		it := &item{v: len(m.items) + 1, key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"), reasons: []string{"no"}}
		m.items = append(m.items, it)
		items = append(items, it)
		l := letterOf(it.key, it.v)
		l.Version = int64(it.v)
		letters = append(letters, l)
	}
	certain := m.failing(rt, func() {
		if err := m.f.Write(rt.Context(), letters); err != nil {
			for _, it := range items {
				it.is = maybe
			}
			if !errors.Is(err, disktest.ErrDisk) {
				rt.Fatalf("Write: %v", err)
			}
		}
	})
	if certain && items[0].is == maybe {
		rt.Fatalf("Write failed for no reason")
	}
}

// newer applies a newer version of a key, which outdates its dead letters.
func (m *model) newer(rt *rapid.T) {
	it := &item{v: len(m.items) + 1, key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"), is: gone}
	if slices.ContainsFunc(m.items, func(older *item) bool { return older.key == it.key && older.is == maybe && !older.outdated }) {
		return // a crash may bring it back, and the File does not know that
	}
	m.land(rt, it.key)
	m.items = append(m.items, it)
	told := func() error {
		return m.f.Write(rt.Context(), []Letter{{Index: testIndex, Key: it.key, Version: int64(it.v)}})
	}
	var err error
	certain := m.failing(rt, func() { err = told() })
	if err != nil && certain {
		rt.Fatalf("Write of a version: %v", err)
	}
	if err = told(); err != nil {
		rt.Fatalf("Write of a version again: %v", err)
	}
	m.applied[it.key] = it.v
	for _, older := range m.items {
		if older.key == it.key && older.is != gone {
			older.is, older.outdated = maybe, true
		}
	}
}

func (m *model) newReason() string {
	m.reason++
	return fmt.Sprintf("reason %d", m.reason)
}

func (m *model) item(v int) *item { return m.items[v-1] }

// apply applies an action in the service.
func (m *model) apply(it *item) {
	if last := m.applied[it.key]; it.v < last {
		m.rt.Fatalf("version %d of key %s is applied after %d", it.v, it.key, last)
	}
	for _, older := range m.items[:it.v-1] {
		if older.key == it.key && older.is == there {
			m.rt.Fatalf("version %d of key %s is applied although %d stays", it.v, it.key, older.v)
		}
	}
	m.applied[it.key] = it.v
}

// land settles the action in flight of a key, as a sender does before it sends the next one.
func (m *model) land(rt *rapid.T, key string) {
	var rest []flight
	for _, fl := range m.flights {
		if fl.it.key != key {
			rest = append(rest, fl)
			continue
		}
		if rapid.Bool().Draw(rt, "applied late") {
			m.apply(fl.it)
			continue
		}
		reason := m.newReason()
		l := letterOf(fl.it.key, fl.it.v)
		l.Message, l.Tag = reason, fl.tag
		if err := m.f.Write(rt.Context(), []Letter{l}); err != nil {
			rt.Fatalf("Write of a letter that was replayed: %v", err)
		}
		if m.d.Fail == nil {
			fl.it.reasons = []string{reason}
		} else {
			fl.it.reasons = append(fl.it.reasons, reason)
		}
	}
	m.flights = rest
}

func (m *model) late(rt *rapid.T) {
	m.failing(rt, func() { m.land(rt, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")) })
}

func (m *model) replay(rt *rapid.T) {
	sink := rapid.Bool().Draw(rt, "same sink")
	ctx, cancel := context.WithCancel(rt.Context())
	defer cancel()
	var delivered, refused []*item
	reasons := map[*item]string{}
	to := sender(func(_ context.Context, actions []models.RawAction) (results []models.IndexingResult, err error) {
		accepted := len(actions)
		if rapid.IntRange(0, 9).Draw(rt, "accepts not all") == 0 {
			accepted, err = rapid.IntRange(0, len(actions)-1).Draw(rt, "accepts"), errSomeFailed
		}
		ends := rapid.IntRange(0, 9).Draw(rt, "ctx ends") == 0
		withdraws := rapid.IntRange(0, 1).Draw(rt, "withdraws") == 0
		for _, a := range actions[:accepted] {
			it := m.item(versionIn(a.Document))
			m.land(rt, it.key)
			switch outcome := rapid.IntRange(0, 3).Draw(rt, "outcome"); {
			case outcome == 0 && ends:
				m.flights = append(m.flights, flight{it, a.Tag})
				results = append(results, models.IndexingResult{Key: it.key})
			case outcome == 0 && withdraws:
				results = append(results, models.IndexingResult{Key: it.key})
				err = models.ErrWithdrawn
			case outcome == 1:
				reason := m.newReason()
				refused = append(refused, it)
				reasons[it] = reason
				if sink {
					l := letterOf(it.key, it.v)
					l.Message, l.Tag = reason, a.Tag
					if err := m.f.Write(rt.Context(), []Letter{l}); err != nil {
						rt.Fatalf("Write of a letter that was replayed: %v", err)
					}
				}
				results = append(results, models.IndexingResult{Key: it.key, StatusCode: 422, ErrorMessage: reason})
				err = cmp.Or(err, errSomeFailed)
			default:
				m.apply(it)
				it.is = maybe // until Replay has returned
				delivered = append(delivered, it)
				results = append(results, models.IndexingResult{Key: it.key, StatusCode: 200, Succeeded: true})
			}
		}
		if ends {
			cancel()
			err = context.Canceled
		}
		return results, err
	})
	var report Report
	var err error
	certain := m.failing(rt, func() {
		report, err = Replay(ctx, m.f, testIndex, to, &ReplayOptions{
			maxActions: rapid.IntRange(1, 5).Draw(rt, "MaxActions"), maxAlone: rapid.IntRange(1, 3).Draw(rt, "maxAlone"),
		})
	})
	for _, it := range delivered {
		if it.is = gone; !certain {
			it.is = maybe
		}
	}
	for _, it := range refused {
		if certain {
			it.reasons = nil
		}
		it.reasons = append(it.reasons, reasons[it])
	}
	if report.Delivered != len(delivered) || report.Failed != len(refused) {
		rt.Fatalf("%+v, but %d were delivered and %d refused", report, len(delivered), len(refused))
	}
	if certain && err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errSomeFailed) && !errors.Is(err, models.ErrWithdrawn) {
		rt.Fatalf("Replay: %v", err)
	}
}

func (m *model) discard(rt *rapid.T) {
	rest := rapid.IntRange(0, 2).Draw(rt, "rest of the version by 3")
	var given []*item
	var n int
	var err error
	certain := m.failing(rt, func() {
		n, err = m.f.Discard(rt.Context(), func(l Letter) bool {
			if versionOf(l)%3 != rest {
				return false
			}
			given = append(given, m.item(versionOf(l)))
			return true
		})
	})
	for _, it := range given {
		if it.is = gone; !certain {
			it.is = maybe
		}
	}
	if certain && (err != nil || n != len(given)) {
		rt.Fatalf("Discard: %d of %d, %v", n, len(given), err)
	}
}

func (m *model) crash(rt *rapid.T) {
	m.d.Crash(func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, what) })
	for _, fl := range m.flights {
		if rapid.Bool().Draw(rt, "applied before the crash") {
			m.apply(fl.it)
		}
	}
	m.flights = nil
	m.open()
	letters := map[int]bool{}
	for l, err := range Read(m.d) {
		if err != nil {
			rt.Fatalf("Read: %v", err)
		}
		letters[versionOf(l)] = true
	}
	for _, it := range m.items {
		if it.is == maybe {
			switch {
			case !letters[it.v]:
				it.is = gone
			case !it.outdated:
				it.is = there
			}
		}
	}
}

// kill ends the process; the disk keeps everything, synced or not.
func (m *model) kill(*rapid.T) {
	m.flights = nil
	m.open()
}

func (m *model) reopen(rt *rapid.T) {
	if err := m.f.Close(); err != nil {
		rt.Fatalf("Close: %v", err)
	}
	m.flights = nil // their sender was closed before, and they were not applied
	m.open()
}

func (m *model) check(rt *rapid.T) {
	left := slices.DeleteFunc(slices.Clone(m.items), func(it *item) bool { return it.is == gone })
	for l, err := range Read(m.d) {
		if err != nil {
			rt.Fatalf("Read: %v", err)
		}
		v := versionOf(l)
		for len(left) > 0 && left[0].v < v {
			if left[0].is == there {
				rt.Fatalf("version %d is lost, or behind %d", left[0].v, v)
			}
			left = left[1:]
		}
		if len(left) == 0 || left[0].v != v {
			rt.Fatalf("version %d is there, again or out of order", v)
		}
		if !slices.Contains(left[0].reasons, l.Message) {
			rt.Fatalf("version %d says %q and may say %q", v, l.Message, left[0].reasons)
		}
		left = left[1:]
	}
	for _, it := range left {
		if it.is == there {
			rt.Fatalf("version %d is lost", it.v)
		}
	}
}

// drain replays everything through a service that accepts it.
func (m *model) drain() {
	for _, key := range []string{"a", "b", "c"} {
		m.land(m.rt, key)
	}
	to := sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		results := make([]models.IndexingResult, len(actions))
		for i, a := range actions {
			it := m.item(versionIn(a.Document))
			m.apply(it)
			it.is = gone
			results[i].Succeeded = true
		}
		return results, nil
	})
	if _, err := Replay(m.rt.Context(), m.f, testIndex, to, nil); err != nil {
		m.rt.Fatalf("Replay: %v", err)
	}
	m.check(m.rt)
	if s := m.f.Stats(); s.Files != 0 || s.Bytes != 0 {
		m.rt.Fatalf("after everything was delivered: %+v", s)
	}
	m.reopen(m.rt) // removes the remains of a failure
	if files := m.d.Files(); len(files) != 0 {
		m.rt.Fatalf("after everything was delivered there are still %v", files)
	}
}
