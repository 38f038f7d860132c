package queuefiles

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/queuelab"
)

// Options configures the runs of programs.
type Options struct {
	// Wrap replaces each queue after it was opened, for tests that inject a fault. All queues are then opened in this
	// process. Defaults to none.
	Wrap func(Queue) Queue
}

// round is one program.
//
//archtest:long owed: what is drawn and what is counted are two parts
type round struct {
	seed    uint64
	rnd     *rand.Rand // of the session
	opts    Options
	root    string // of the file system
	dir     string // of the queue, in root
	segment int
	small   bool // root is a small disk
	kills   bool // processes are killed
	began   time.Time

	proc      process
	worlds    []*world
	session   int
	sent      int // calls of the session
	mood      mood
	adder     queue.ID
	number    uint64
	holder    queue.ID
	last      *call         // the last accepted Append
	leases    []queue.Lease // of the session, not settled
	stale     []queue.Lease // of earlier ones
	positions []queue.Position
	value     int
	ballast   bool
	log       segments
	keys      map[string]touch
	holds     map[string]bool
	trace     []string
}

// note adds a line to the trace of a failure.
func (r *round) note(format string, args ...any) {
	line := fmt.Sprintf("%d.%d "+format, append([]any{r.session, r.sent}, args...)...)
	r.trace = append(r.trace, line[:min(len(line), 300)])
	r.trace = r.trace[max(0, len(r.trace)-40):]
}

// held records that the program has covered a case named by Holds.
func (r *round) held(what string) { r.holds[what] = true }

// Holds returns the names of all cases that a program can cover. Those of a full disk are left out if this process may
// not mount one.
func Holds() []string {
	holds := []string{
		"a kill", "a kill in append, kept", "a kill in append, not kept", "a kill in settle", "a kill in reserve", "a kill in open", "a kill in close",
		"six segments at an opening", "leases at an opening", "a pause over an opening", "a fold", "every position is settled after the drain",
		"the compaction of a reopened segment",
		"a waiting key behind the compaction of a reopened segment",
		"a parked key behind the compaction of a reopened segment",
		"a delayed key behind the compaction of a reopened segment",
	}
	if canMount() {
		holds = append(holds, "a full disk", "an opening on a full disk", "a kill on a full disk", "a compaction on a full disk", "a drain on a full disk",
			"room on a disk that was full")
	}
	return holds
}

// Segments on a small disk.
const (
	smallSegment  = 128 << 10 // the rest of the head must suffice for all calls of a round on a full disk
	smallSegments = 14
)

// Run runs one random program. It returns the cases of Holds that the program has covered, and an error for the first
// answer that differs from that of the model.
func Run(rnd *rand.Rand, opts Options) (held []string, err error) {
	root, err := os.MkdirTemp("", "queuefiles")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	r := &round{
		seed: rnd.Uint64(), opts: opts, root: root, dir: filepath.Join(root, "queue"), began: time.Now().Truncate(time.Millisecond),
		segment: 16 << 10 << rnd.IntN(3), kills: rnd.IntN(4) == 0, small: rnd.IntN(8) == 0,
		worlds: []*world{{Model: queuelab.NewModel()}}, keys: map[string]touch{}, holds: map[string]bool{},
	}
	if opts.Wrap != nil {
		r.small, r.kills = false, false
	}
	if r.small = r.small && canMount(); r.small {
		r.segment = smallSegment
		_, err = onSmallDisk(root, smallSegments*r.segment, r.run)
	} else {
		err = r.run()
	}
	for _, what := range Holds() {
		if r.holds[what] {
			held = append(held, what)
		}
	}
	if err != nil {
		err = fmt.Errorf("session %d, segments of %d bytes, small disk %v, kills %v: %w\n\t%s", r.session, r.segment, r.small, r.kills, err, strings.Join(r.trace, "\n\t"))
	}
	return held, err
}

// canMount reports whether onSmallDisk works.
var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "queuefiles")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	mounted, err := onSmallDisk(dir, 1<<16, func() error { return nil })
	return mounted && err == nil
})

func (r *round) run() error {
	for sessions := 3 + int(r.seed%6); r.session < sessions; r.session++ {
		r.rnd = rand.New(rand.NewPCG(r.seed, uint64(r.session)))
		err := r.live(r.session == sessions-1)
		if errors.Is(err, errKilled) {
			r.held("a kill")
			if r.ballast {
				r.held("a kill on a full disk")
			}
			err = nil
		}
		if r.proc != nil {
			r.proc.end()
			r.proc = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// live is one session, from the opening to the close or kill.
func (r *round) live(last bool) error {
	r.adder, r.number, r.holder, r.sent = r.id(), 0, r.id(), 0
	r.stale = append(r.stale, r.leases...)
	r.stale = r.stale[max(0, len(r.stale)-5):]
	r.leases = nil
	r.mood = pick(r, []mood{grow, churn, churn, mixed, drain})
	if r.session == 0 {
		r.mood = grow
	}
	steps := 10 + r.rnd.IntN(100)
	kill := -1
	switch {
	case r.small || r.kills && r.chance(80):
		p, err := start()
		if r.proc = p; err != nil {
			return err
		}
		if !last && r.kills && r.chance(80) {
			kill = pick(r, []int{0, steps + 1, r.rnd.IntN(steps + 1), r.rnd.IntN(steps + 1), r.rnd.IntN(steps + 1)})
		}
	default:
		r.proc = &here{subject{wrap: r.opts.Wrap}}
	}
	if err := r.open(kill); err != nil {
		return err
	}
	for i := 1; i <= steps || kill >= 0 && kill <= steps; i++ {
		if i == kill {
			r.proc.kill(r.soon())
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	if last {
		return r.finish()
	}
	if err := r.look(); err != nil {
		return err
	}
	if err := r.bounded(); err != nil {
		return err
	}
	if kill > steps {
		r.proc.kill(r.soon())
	}
	_, err := r.do(&call{What: closing})
	return err
}

// soon returns the time until a kill: a few calls, or a part of one.
func (r *round) soon() time.Duration {
	return time.Duration(r.rnd.IntN(pick(r, []int{300, 3000, 10_000}))) * time.Microsecond
}

func (r *round) open(kill int) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	if err := r.log.read(r.dir); err != nil {
		return err
	}
	r.log.reopened = r.log.newest
	r.log.openings = append(r.log.openings, r.log.oldest)
	if r.log.newest-r.log.oldest >= 5 {
		r.held("six segments at an opening")
	}
	if len(r.leases)+len(r.worlds[0].Inspect(r.began, queue.Inspection{States: queue.Leased})) > 0 {
		r.held("leases at an opening")
	}
	if kill == 0 {
		r.proc.kill(r.soon())
	}
	if _, err := r.do(&call{What: opening, Dir: r.dir, Segment: r.segment}); err != nil {
		return err
	}
	if r.ballast {
		r.held("an opening on a full disk")
	}
	return r.look()
}

// look compares Stats, Contains and all entries.
func (r *round) look() error {
	c := &call{What: looking}
	for key := range r.keys {
		c.Keys = append(c.Keys, key)
	}
	slices.Sort(c.Keys)
	a, err := r.do(c)
	if err != nil {
		return err
	}
	r.landed()
	if r.sent > 2 {
		return nil
	}
	for i := range a.Entries { // at an opening
		if e := &a.Entries[i]; r.log.compacted(r.keys[e.Key]) {
			switch {
			case e.State == queue.Parked:
				r.held("a parked key behind the compaction of a reopened segment")
			case !e.Due.IsZero():
				r.held("a delayed key behind the compaction of a reopened segment")
			case e.State == queue.Waiting:
				r.held("a waiting key behind the compaction of a reopened segment")
			}
		}
	}
	if a.Stats.Paused {
		r.held("a pause over an opening")
	}
	return nil
}

// landed records the outcome of an interrupted Append once it is known.
func (r *round) landed() {
	if len(r.worlds) == 1 {
		if cut := r.worlds[0].cut; cut != "" {
			r.held(cut)
		}
		r.worlds[0].cut = ""
	}
}

// do makes a call and keeps the worlds in which its answer is the same.
func (r *round) do(c *call) (answer, error) {
	now := time.Now()
	r.note("%s", c)
	r.sent++
	got, err := r.proc.do(c)
	for until := now.Add(2 * time.Second); err == nil && got.Full && c.What == appending; {
		free, errRoom := room(r.dir)
		if errRoom != nil {
			return got, errRoom
		}
		if free < 2*r.segment {
			r.held("a full disk")
			r.note("full, with %d bytes free and the segments %d to %d", free, r.log.oldest, r.log.newest)
			return got, nil // nothing was kept
		}
		if time.Now().After(until) {
			return got, fmt.Errorf("%s: got %s, want nil: %d bytes are free", c.What, got.Err, free)
		}
		time.Sleep(5 * time.Millisecond)
		got, err = r.proc.do(c)
	}
	switch {
	case errors.Is(err, errKilled):
		r.cut(now, c, !errors.Is(err, errBefore))
		return got, err
	case err != nil:
		return got, err
	case got.Err != "":
		return got, fmt.Errorf("%s: %s", c, got.Err)
	}
	var possible []*world
	want := ""
	seen := got.show(c, r.began)
	for _, w := range r.worlds {
		its := w.do(now, c)
		want = its.show(c, r.began)
		if c.What == settled && !got.Settled && r.session > 0 {
			want = seen // after an opening the queue may not know that a position is settled
		}
		if want == seen && its.Err == "" {
			possible = append(possible, w)
		}
	}
	if len(possible) == 0 {
		return got, fmt.Errorf("%s: want the answer of one of %d possible states; the last one differs:%s", c.What, len(r.worlds), difference(seen, want))
	}
	r.worlds = possible
	if c.What == opening { // worlds that differed in leases only are equal now
		r.worlds = slices.CompactFunc(possible, func(v, w *world) bool { return v.String() == w.String() })
	}
	if c.What == appending && !c.Again {
		r.last, r.positions = c, append(r.positions, got.Receipt.Position)
	}
	keys := c.keys()
	for i := range got.Leases {
		keys = append(keys, got.Leases[i].Key)
	}
	return got, r.touch(keys)
}

// cut divides each world into two: without the interrupted call, and with it.
func (r *round) cut(now time.Time, c *call, sent bool) {
	var worlds []*world
	for _, w := range r.worlds {
		without, with := w, w.clone()
		with.do(now, c)
		if sent && c.What == appending {
			without.cut, with.cut = "a kill in append, not kept", "a kill in append, kept"
		}
		worlds = append(worlds, without, with)
	}
	r.worlds = worlds
	if sent {
		r.held(fmt.Sprint("a kill in ", c.What))
	}
	_ = r.touch(c.keys()) // read again at the next opening
	if c.What == appending && !c.Again {
		for i := 0; i < len(worlds); i += 2 {
			worlds[i].positions = append(worlds[i].positions, "")
		}
		r.positions = append(r.positions, "") // the position is unknown
		r.last = c
	}
}
