package queuelab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// ledger is the knowledge about a schedule without a model: what was appended, what the index has, and the leases of
// each key.
type ledger struct {
	truth, index map[string]document
	versions     map[string]int       // of the source, for records whose Op is ""
	ids          map[queue.Origin]int // of records, in the order of Append
	dropped      map[string]bool      // by Admin.Drop, and not replaced since

	leases    map[string]*tenure // last lease of each key
	committed map[string]uint64  // last Seq
	uncertain map[string]time.Time

	saw saw
}

// saw is the cases that a schedule has covered.
type saw struct{ overlap, expiry, zombie, crash, redirtied bool }

// document is a document of the index, by field.
type document map[string]string

// tenure is the lease of a key, as its holder knows it.
type tenure struct {
	token     queue.ID
	until     time.Time
	uncertain time.Duration // of the reservation
	settled   bool
	redirtied bool
}

func (l *tenure) live(now time.Time) bool { return l != nil && !l.settled && l.until.After(now) }

func newLedger() *ledger {
	return &ledger{
		truth: map[string]document{}, index: map[string]document{}, versions: map[string]int{}, ids: map[queue.Origin]int{},
		dropped: map[string]bool{}, leases: map[string]*tenure{}, committed: map[string]uint64{}, uncertain: map[string]time.Time{},
	}
}

// apply applies a record to a document.
func (d document) apply(r *queue.Record, version int) document {
	switch r.Op {
	case "":
		return document{"version": fmt.Sprint(version)}
	case models.ActionTypeDelete:
		return document{}
	case models.ActionTypeUpload:
		d = nil
	}
	d = maps.Clone(d)
	if d == nil {
		d = document{}
	}
	maps.Copy(d, fields(r.Body))
	return d
}

// fields decodes a body, "f1=17;f2=18".
func fields(body []byte) document {
	d := document{}
	for _, f := range strings.Split(string(body), ";") {
		name, value, _ := strings.Cut(f, "=")
		d[name] = value
	}
	return d
}

// body encodes the fields.
func (d document) body() []byte {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, name+"="+d[name])
	}
	return []byte(strings.Join(parts, ";"))
}

// appended records a call that was accepted for the first time.
func (l *ledger) appended(now time.Time, call *queue.Call) {
	for i := range call.Records {
		r := &call.Records[i]
		l.ids[queue.Origin{Adder: call.Adder, Number: call.Number, Index: i}] = len(l.ids) + 1
		if r.Op == "" {
			l.versions[r.Key]++
		}
		if r.Replaces() {
			delete(l.dropped, r.Key)
		}
		l.truth[r.Key] = l.truth[r.Key].apply(r, l.versions[r.Key])
		if t := l.leases[r.Key]; t.live(now) {
			t.redirtied = true
			l.saw.redirtied = true
		}
	}
}

// reserved checks and records the result of Reserve.
func (l *ledger) reserved(now time.Time, want *queue.Want, leases []queue.Lease, repeated bool) error {
	if len(want.Only) == 0 && len(leases) > want.Keys && !repeated {
		return fmt.Errorf("%d leases, and %d were asked for", len(leases), want.Keys)
	}
	for k, t := range l.leases {
		if t.live(now) && t.redirtied && t.token != want.Token && want.Keys > 0 && k != "" {
			l.saw.overlap = true
		}
	}
	for i := range leases {
		lease := &leases[i]
		switch t := l.leases[lease.Key]; {
		case lease.Token != want.Token:
			return fmt.Errorf("%s: it has another token than was asked with", lease.Key)
		case repeated && (!t.live(now) || t.token != want.Token):
			return fmt.Errorf("%s: a repeated Reserve has leased it", lease.Key)
		case repeated:
		case t.live(now):
			return fmt.Errorf("%s: it is leased to another holder", lease.Key)
		case l.uncertain[lease.Key].After(now):
			return fmt.Errorf("%s: it is uncertain for another %v", lease.Key, l.uncertain[lease.Key].Sub(now))
		case t != nil && !t.settled:
			if end := t.until.Add(t.uncertain); end.After(now) {
				return fmt.Errorf("%s: it is uncertain for another %v", lease.Key, end.Sub(now))
			}
			l.saw.expiry = true
		}
		if err := l.inOrder(lease); err != nil {
			return err
		}
		if !repeated {
			l.leases[lease.Key] = &tenure{token: want.Token, until: now.Add(want.For), uncertain: want.Uncertain}
		}
	}
	return nil
}

// inOrder checks that records come in the order of Append, and that no committed record comes again.
func (l *ledger) inOrder(lease *queue.Lease) error {
	if len(lease.Records) == 0 {
		return fmt.Errorf("%s: leased without records", lease.Key)
	}
	seq, id := l.committed[lease.Key], 0
	for i := range lease.Records {
		r := &lease.Records[i]
		switch its, known := l.ids[r.From]; {
		case r.Key != lease.Key:
			return fmt.Errorf("%s: a record of %s", lease.Key, r.Key)
		case !known:
			return fmt.Errorf("%s: a record that was never appended: %q", lease.Key, r.Body)
		case i == 0 && r.Seq <= seq:
			return fmt.Errorf("%s: a record that was committed comes again: %q", lease.Key, r.Body)
		case r.Seq <= seq || its < id:
			return fmt.Errorf("%s: records out of order: %q", lease.Key, r.Body)
		default:
			seq, id = r.Seq, its
		}
	}
	return nil
}

// send applies the first n records of a lease to the index.
func (l *ledger) send(lease *queue.Lease, n int) {
	for i := range lease.Records[:n] {
		r := &lease.Records[i]
		l.index[r.Key] = l.index[r.Key].apply(r, l.versions[r.Key])
	}
}

// holds reports whether a lease is still valid.
func (l *ledger) holds(now time.Time, lease *queue.Lease) bool {
	t := l.leases[lease.Key]
	return t.live(now) && t.token == lease.Token
}

// settled records an end that was not stale.
func (l *ledger) settled(now time.Time, end *queue.End, lease *queue.Lease) {
	l.leases[lease.Key].settled = true
	n := end.Done
	if end.Fate == queue.Commit {
		n = len(lease.Records)
	}
	if n = min(n, len(lease.Records)); n > 0 {
		l.committed[lease.Key] = lease.Records[n-1].Seq
	}
	if end.Uncertain > 0 {
		l.uncertain[lease.Key] = now.Add(end.Uncertain)
	}
}

// differs compares the index with the source.
func (l *ledger) differs() error {
	for _, k := range slices.Sorted(maps.Keys(l.truth)) {
		if !l.dropped[k] && !maps.Equal(l.truth[k], l.index[k]) {
			return fmt.Errorf("%s: the index has %v, and %v was appended: a change was lost", k, l.index[k], l.truth[k])
		}
	}
	return nil
}
