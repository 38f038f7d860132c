package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a log, an index, and the members that a test starts.
type rig struct {
	t *testing.T
	*truth
}

// inBubble runs a test in a synctest bubble. At its end, stopped members must have consumed every record, without an
// early commit.
func inBubble(t *testing.T, partitions int, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		truth, err := newTruth(t.Context(), partitions)
		require.NoError(t, err)
		defer truth.service.Close()
		r := &rig{t, truth}
		test(t, r)
		assert.NoError(t, r.check())
	})
}

func (r *rig) member(name string) *member {
	m := &member{name: name, group: r.group, indexer: r.client, aside: r.aside, logger: slog.New(slog.DiscardHandler)}
	m.start(r.t.Context())
	return m
}

// consumer runs a consumer until end is called.
func (r *rig) consumer() (c *consumer, end func()) {
	c, err := newConsumer("a", r.group, r.client, r.aside, slog.New(slog.DiscardHandler))
	require.NoError(r.t, err)
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.run(ctx) }()
	return c, func() {
		r.t.Helper()
		cancel()
		require.NoError(r.t, <-ended)
		require.NoError(r.t, c.stop(r.t.Context()))
	}
}

// add produces records with the keys prefix-0, prefix-1, …
func (r *rig) add(prefix string, n int) {
	for i := range n {
		r.append(fmt.Sprintf("%s-%d", prefix, i), &Value{Title: prefix}, false)
	}
}

func (r *rig) faults(rules ...searchtest.Fault) {
	for i := range rules {
		rules[i].Operation = searchtest.OpIndexDocuments
	}
	r.service.Emulator.SetFaults(&searchtest.Faults{Rules: rules})
}

func (r *rig) consumed() {
	r.t.Helper()
	require.NoError(r.t, await(r.t.Context(), r.group))
}

// times returns the smallest and largest number of times that a key was applied.
func (r *rig) times(prefix string, n int) (least, most int) {
	least = 1 << 30
	for i := range n {
		count := 0
		for _, change := range r.service.Emulator.History(indexName, fmt.Sprintf("%s-%d", prefix, i)) {
			if change.Applied() {
				count++
			}
		}
		least, most = min(least, count), max(most, count)
	}
	return least, most
}

func TestLastValueOfEachKeyIsInTheIndex(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, r *rig) {
		r.add("p", 500)
		m := r.member("a")
		for i := range 10 {
			r.append("p-7", &Value{Title: fmt.Sprint("again ", i)}, false)
			time.Sleep(30 * time.Millisecond)
		}
		r.append("p-8", nil, false)
		r.consumed()
		require.NoError(t, m.stop())
	})
}

func TestOffsetIsCommittedWhenAllBelowItIsSettled(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"p-100"}, Status: 503}}})
		r.add("p", 300)
		m := r.member("a")
		time.Sleep(5 * time.Second)
		assert.EqualValues(t, 299, r.service.Emulator.DocumentCount(indexName))
		held := r.group.from(0, r.group.Committed()[0])
		require.NotEmpty(t, held)
		assert.Equal(t, "p-100", held[0].Key)
		r.service.Emulator.SetFaults(nil)
		r.consumed()
		require.NoError(t, m.stop())
	})
}

func TestPoisonIsSetAsideAndPassed(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.append("rejected", &Value{Category: strings.Repeat("x", 40_000)}, true)
		r.append("no legal key!", &Value{}, true)
		r.append("good", &Value{Title: "x"}, false)
		m := r.member("a")
		r.consumed()
		require.NoError(t, m.stop())
		assert.Equal(t, 2, r.aside.count())
		var rejected *bufferedsender.ActionError
		assert.ErrorAs(t, r.aside.of(r.poison[0]), &rejected)
		var refused *bufferedsender.AddError
		assert.ErrorAs(t, r.aside.of(r.poison[1]), &refused)
	})
}

func TestRecordThatFailsForAnotherReasonIsReadAgain(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"p-5"}, Status: 409, Times: 6}}})
		r.add("p", 10)
		m := r.member("a")
		r.consumed()
		require.NoError(t, m.stop())
		assert.Zero(t, r.aside.count(), "a conflict says nothing about the record")
		_, most := r.times("p", 10)
		assert.Equal(t, 2, most, "later records were sent again")
	})
}

func TestRestartBeginsAtTheCommittedOffsets(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.add("committed", 50)
		m := r.member("a")
		r.consumed()
		r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
		r.add("lost", 50)
		time.Sleep(time.Second)
		require.NoError(t, m.crash())
		assert.Equal(t, 50, r.group.Lag())
		r.service.Emulator.SetFaults(nil)
		m = r.member("a")
		r.consumed()
		require.NoError(t, m.stop())
		_, most := r.times("committed", 50)
		assert.Equal(t, 1, most)
	})
}

func TestNothingIsPolledWhileNothingCanBeSent(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Status: 500})
		r.add("early", 10)
		c, end := r.consumer()
		time.Sleep(10 * time.Second)
		require.False(t, c.sender.Health().State.WantsWork())
		r.add("late", 100)
		time.Sleep(10 * time.Second)
		assert.Equal(t, 10, c.sender.Stats().PendingActions, "the others are safe in the log")

		b := r.member("b") // while adding waits, partitions can change hands
		time.Sleep(10 * time.Second)
		assert.Less(t, c.sender.Stats().PendingActions, 10)
		r.service.Emulator.SetFaults(nil)
		r.consumed()
		end()
		require.NoError(t, b.stop())
	})
}

func TestBufferIsNeverFullForARecordThatWasPolled(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Delay: searchtest.Duration(15 * time.Second), Count: 8})
		r.add("p", 5000)
		c, end := r.consumer()
		time.Sleep(2 * addFor)
		assert.NoError(t, c.failure(), "waiting for room that long is an error")
		r.consumed()
		end()
		_, most := r.times("p", 5000)
		assert.Equal(t, 1, most, "nothing was read twice")
	})
}

func TestCommitThatIsTooEarlyIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := newTruth(t.Context(), 1)
		require.NoError(t, err)
		defer r.service.Close()
		r.append("missing", &Value{Title: "x"}, false)
		r.append("bad key", &Value{}, true)
		r.append("gone", nil, false)
		r.audit(r.group.from(0, 0))
		assert.Len(t, r.early, 2, "a tombstone of a missing document is settled")
		err = r.check()
		require.Error(t, err)
		for _, complaint := range []string{
			`"missing" at 0 was committed`, `"bad key" at 1 was committed`, "3 records are not committed",
			"not among the dead letters", "missing: the index does not have it",
		} {
			assert.ErrorContains(t, err, complaint)
		}
	})
}

// The demonstration checks the index and every commit.
func TestIndexAgreesWithTheLogThroughRebalanceOutageAndCrash(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		o := stagetest.Succeeds(t, program, nil, " 0 commits were too early", "has the last value of each key")
		assert.Equal(t, 7, strings.Count(o.Out, "are not committed"))
	})
}
