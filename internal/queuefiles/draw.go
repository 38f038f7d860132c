package queuefiles

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// mood determines which calls a session makes most often.
type mood int

const (
	grow  mood = iota // appends new keys
	churn             // appends and commits ten keys, so that old segments are compacted
	mixed
	drain
)

func (r *round) chance(percent int) bool { return r.rnd.IntN(100) < percent }

func pick[T any](r *round, from []T) T { return from[r.rnd.IntN(len(from))] }

func (r *round) id() (id queue.ID) {
	binary.LittleEndian.PutUint64(id[:], r.rnd.Uint64())
	binary.LittleEndian.PutUint64(id[8:], r.rnd.Uint64())
	return id
}

// hours returns a duration that is longer than the round.
func (r *round) hours() time.Duration { return time.Duration(1+r.rnd.IntN(3)) * time.Hour }

// step draws a call and makes it.
func (r *round) step() error {
	if r.worlds[0].Stats(time.Now()).Paused && r.chance(8) {
		_, err := r.do(&call{What: resuming})
		return err
	}
	steps := []struct {
		weights [4]int // by mood
		do      func() error
	}{
		{[4]int{50, 30, 25, 8}, r.append},
		{[4]int{5, 25, 20, 40}, r.reserve},
		{[4]int{5, 30, 20, 40}, r.settle},
		{[4]int{2, 2, 4, 2}, r.again},
		{[4]int{2, 2, 3, 0}, r.fold},
		{[4]int{1, 1, 3, 1}, r.late},
		{[4]int{2, 2, 6, 2}, r.people},
		{[4]int{1, 1, 3, 1}, r.askSettled},
		{[4]int{1, 1, 2, 1}, r.look},
		{[4]int{4, 4, 4, 2}, r.disk},
	}
	total := 0
	for _, s := range steps {
		total += s.weights[r.mood]
	}
	n := r.rnd.IntN(total)
	for _, s := range steps {
		if n -= s.weights[r.mood]; n < 0 {
			return s.do()
		}
	}
	return nil
}

// key draws a key: stuck keys stay in the queue, hot keys change all the time, cold keys once.
func (r *round) key() string {
	switch n := r.rnd.IntN(100); {
	case r.session == 0 && n < 10, n < 2:
		return fmt.Sprint("stuck-", r.rnd.IntN(12))
	case r.mood == grow && n < 70, n < 6:
		return fmt.Sprint("cold-", r.rnd.IntN(200))
	}
	return fmt.Sprint("hot-", r.rnd.IntN(10))
}

// record returns a change. Stuck keys have the last places, so that the others are reserved first.
func (r *round) record(key string, op models.ActionType, size int) queue.Record {
	r.value++
	since := r.began
	c := queue.Record{Key: key, Op: op, Class: 3}
	if !strings.HasPrefix(key, "stuck") {
		since = since.Add(-time.Duration(1+r.rnd.IntN(600)) * time.Minute)
		c.Class = pick(r, []uint8{0, 1, 1, 1, 2})
	}
	c.Since = since
	if op != "" {
		c.Body = fmt.Appendf(nil, "v%d %s", r.value, strings.Repeat(string(rune('a'+r.value%26)), size))
	}
	return c
}

func (r *round) append() error {
	ops := []models.ActionType{models.ActionTypeUpload, models.ActionTypeUpload, models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete, ""}
	var c queue.Call
	switch n := r.rnd.IntN(100); {
	case n < 3: // a pile
		key := r.key()
		for range queue.PileLimit + r.rnd.IntN(3) {
			c.Records = append(c.Records, r.record(key, models.ActionTypeMerge, 5))
		}
	default:
		for range 1 + r.rnd.IntN(8) { // a call is a small part of a segment
			c.Records = append(c.Records, r.record(r.key(), pick(r, ops), r.rnd.IntN(r.segment/24)))
		}
	}
	return r.appendCall(c)
}

func (r *round) appendCall(c queue.Call) error {
	r.number++
	c.Adder, c.Number = r.adder, r.number
	_, err := r.do(&call{What: appending, Append: c})
	return err
}

// again repeats the last Append, even that of a killed process.
func (r *round) again() error {
	if r.last == nil {
		return nil
	}
	c := *r.last
	c.Again = true
	_, err := r.do(&c)
	return err
}

// fold folds the pile of a key; one in ten comparisons fails on purpose.
func (r *round) fold() error {
	a, err := r.do(&call{What: looking})
	if err != nil {
		return err
	}
	for _, i := range r.rnd.Perm(len(a.Entries)) {
		e := &a.Entries[i]
		if len(e.Waiting) < 2 {
			continue
		}
		n := 2 + r.rnd.IntN(len(e.Waiting)-1)
		f := queue.Fold{Key: e.Key, Count: n, Last: e.Waiting[n-1].Seq}
		f.Records = []queue.Record{r.record(e.Key, models.ActionTypeMergeOrUpload, 50)}
		f.Records[0].Since = time.Time{} // the place is kept
		if r.chance(10) {
			f.Last = 0
		}
		r.held("a fold")
		return r.appendCall(queue.Call{Folds: []queue.Fold{f}})
	}
	return nil
}

func (r *round) want() queue.Want {
	w := queue.Want{Token: r.id(), Holder: r.holder, Name: fmt.Sprint("session ", r.session), Keys: 1 + r.rnd.IntN(30), Bytes: 1 << 20, For: r.hours()}
	if r.chance(10) {
		w.Bytes = r.rnd.IntN(3000)
	}
	if r.chance(1) {
		w.Uncertain = r.hours()
	}
	if r.mood == churn && r.chance(70) || r.chance(20) {
		for i := range 10 {
			w.Only = append(w.Only, fmt.Sprint("hot-", i))
		}
		if r.chance(20) {
			w.Only = append(w.Only, fmt.Sprint("stuck-", r.rnd.IntN(12)), fmt.Sprint("cold-", r.rnd.IntN(200)))
		}
	}
	return w
}

func (r *round) reserve() error { return r.reserveAs(&call{What: reserving, Want: r.want()}) }

func (r *round) reserveAs(c *call) error {
	a, err := r.do(c)
	r.leases = append(r.leases, a.Leases...)
	return err
}

// ends draws leases of the session and their ends.
func (r *round) ends() (ends []queue.End) {
	r.rnd.Shuffle(len(r.leases), func(i, j int) { r.leases[i], r.leases[j] = r.leases[j], r.leases[i] })
	n := len(r.leases)
	if r.chance(50) {
		n = r.rnd.IntN(n + 1)
	}
	for _, l := range r.leases[:n] {
		e := queue.End{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: queue.Commit}
		commits := 90
		if strings.HasPrefix(l.Key, "stuck") {
			commits = 10
		}
		switch n := r.rnd.IntN(100); {
		case n < commits:
		case n < commits+(100-commits)/2:
			e.Fate, e.Done, e.Again = queue.Release, r.rnd.IntN(len(l.Records)+1)/2, r.chance(40)
			if r.chance(60) {
				e.After = pick(r, []time.Duration{short, r.hours(), r.hours()})
			}
		default:
			e.Fate, e.Done, e.Reason = queue.Park, r.rnd.IntN(len(l.Records)+1)/2, "status 400"
		}
		if r.rnd.IntN(300) == 0 {
			e.Uncertain = r.hours()
		}
		ends = append(ends, e)
	}
	r.leases = r.leases[n:]
	return ends
}

// short is a delay that is over before the next call: see ended.
const short = 2 * time.Millisecond

func (r *round) settle() error {
	if len(r.leases) == 0 {
		return r.reserve()
	}
	return r.ended(&call{What: settling, Ends: r.ends()})
}

func (r *round) ended(c *call) error {
	_, err := r.do(c)
	if slices.ContainsFunc(c.Ends, func(e queue.End) bool { return e.After == short }) {
		time.Sleep(3 * short)
	}
	return err
}

// late settles a lease of an earlier session, which is stale.
func (r *round) late() error {
	if len(r.stale) == 0 {
		return nil
	}
	l := pick(r, r.stale)
	return r.ended(&call{What: settling, Ends: []queue.End{{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: queue.Commit}}})
}

// people makes a call of Admin.
func (r *round) people() error {
	if r.ballast {
		return nil // Park, Unpark and Pause may need room
	}
	c := &call{What: parking}
	if n := r.rnd.IntN(10); n < 3 {
		for range 3 {
			c.Keys = append(c.Keys, r.key())
		}
	} else if n < 6 {
		c.What = pausing
	} else {
		c.What = pick(r, []what{unparking, unparking, dropping})
		for _, e := range r.worlds[0].Inspect(time.Now(), queue.Inspection{States: queue.Parked}) {
			if r.chance(10) {
				c.Keys = append(c.Keys, e.Key)
			}
		}
	}
	c.Keys = distinct(c.Keys)
	_, err := r.do(c)
	return err
}

func (r *round) askSettled() error {
	if len(r.positions) == 0 {
		return nil
	}
	i := r.rnd.IntN(len(r.positions))
	if r.positions[i] == "" {
		return nil
	}
	_, err := r.do(&call{What: settled, At: i, Real: r.positions[i]})
	return err
}

// disk fills a small disk, or frees it.
func (r *round) disk() error {
	switch {
	case !r.small:
		return nil
	case r.ballast:
		return r.empty()
	}
	return r.fill()
}
