package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	keys      = 400
	indexName = "products"
)

// truth produces the records, computes what the index must contain at the end, and detects commits of unsettled
// records.
type truth struct {
	group   *Group
	service *stage.Service
	client  *search.Client
	aside   *deadLetters

	mu       sync.Mutex         // guards the fields below
	latest   map[string]Product // what the index must contain
	poison   []Record
	produced int
	audited  int
	early    []error // commits of unsettled records
}

// newTruth returns an empty log and an index.
func newTruth(ctx context.Context, partitions int) (*truth, error) {
	service := stage.Emulate(&searchtest.Options{Latency: 20 * time.Millisecond, KeepContents: true, KeepChanges: 1_000_000})
	t := &truth{group: NewGroup(partitions), service: service, aside: &deadLetters{reasons: map[Record]error{}}, latest: map[string]Product{}}
	t.group.OnCommit = t.audit
	var err error
	t.client, err = stage.Open[Product](ctx, service, indexName)
	return t, err
}

// produce appends records until ctx ends: updates, tombstones, and a few that no index accepts.
func (t *truth) produce(ctx context.Context, random *rand.Rand) {
	for stage.Wait(ctx, 5*time.Millisecond) {
		for range 10 {
			key := fmt.Sprintf("product-%d", random.IntN(keys))
			switch random.IntN(500) {
			case 0: // the service rejects it: a term of a filterable field may not be so long
				t.append(key, &Value{Title: "poison", Category: strings.Repeat("x", 40_000)}, true)
			case 1: // the sender refuses it
				t.append(key+" is not a legal key", &Value{Title: "poison"}, true)
			case 2, 3, 4, 5, 6, 7, 8, 9, 10, 11:
				t.append(key, nil, false)
			default:
				t.append(key, &Value{Title: fmt.Sprintf("title %d", random.IntN(1e6)), Category: "c"}, false)
			}
		}
	}
}

func (t *truth) append(key string, value *Value, poison bool) {
	r := t.group.Produce(key, value)
	t.mu.Lock() // not earlier: the group calls audit under its own lock
	defer t.mu.Unlock()
	t.produced++
	if poison {
		t.poison = append(t.poison, r)
		return
	}
	delete(t.latest, key)
	if value != nil {
		t.latest[key] = Product{ID: key, Title: value.Title, Category: value.Category, Offset: r.Offset}
	}
}

// audit runs before each commit. Every record of the commit must be in the index, superseded there by a newer one, or
// a dead letter.
func (t *truth) audit(records []Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		if t.audited++; t.aside.of(r) == nil && !t.applied(r) {
			t.early = append(t.early, fmt.Errorf("partition %d: the record of %q at %d was committed, and is not settled", r.Partition, r.Key, r.Offset))
		}
	}
}

// applied looks at the document first: a newer change that is applied meanwhile is in the history.
func (t *truth) applied(r Record) bool {
	_, there := t.service.Emulator.Document(indexName, r.Key)
	for _, change := range t.service.Emulator.History(indexName, r.Key) {
		var p Product
		if change.Applied() && change.Action == models.ActionTypeUpload && json.Unmarshal(change.Document, &p) == nil && p.Offset >= r.Offset {
			return true
		}
	}
	return r.Value == nil && !there
}

// check compares the index with the log after the whole log is consumed.
func (t *truth) check() error {
	lag := t.group.Lag()
	t.mu.Lock()
	defer t.mu.Unlock()
	errs := t.early
	if lag > 0 {
		errs = append(errs, fmt.Errorf("%d records are not committed", lag))
	}
	for _, r := range t.poison {
		if t.aside.of(r) == nil {
			errs = append(errs, fmt.Errorf("the poison at %d of partition %d is not among the dead letters", r.Offset, r.Partition))
		}
	}
	if n := t.aside.count(); n > len(t.poison) {
		errs = append(errs, fmt.Errorf("%d dead letters of %d bad records", n, len(t.poison)))
	}
	has, err := stage.Documents[Product](t.service, indexName)
	return errors.Join(append(errs, err, stage.Problems(stage.Differences(t.latest, has)))...)
}

// deadLetters keeps records that the index will never accept, with the reason; a real program uses another topic.
// After write returns nil the record is safe and its offset may be committed. After a crash in between, the record is
// written again.
type deadLetters struct {
	mu      sync.Mutex // guards reasons
	reasons map[Record]error
}

func (d *deadLetters) write(r Record, reason error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reasons[r] = reason
	return nil
}

func (d *deadLetters) of(r Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reasons[r]
}

func (d *deadLetters) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.reasons)
}
