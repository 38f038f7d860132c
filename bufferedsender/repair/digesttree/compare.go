package digesttree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// maxDifferences is how many keys a Compare finds at most.
const maxDifferences = 128

// Source is rows that can be read in one scan and by key: a source of package repair, for example. Its methods are
// called by one goroutine at a time.
type Source interface {
	// Scan yields the rows behind the key after, up to and with the key through; "" is no bound. An error is the last.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of those of the keys that are there, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Difference is a key that differs.
type Difference struct {
	Key string
	// Here is the version of the Tree, There that of the source: the side with the smaller one is behind. MissingHere
	// is set if the Tree was not told of the key, MissingThere if the source does not have it; the version is 0 then.
	Here, There               int64
	MissingHere, MissingThere bool
}

// Differences is what Compare has found.
type Differences struct {
	// Keys are those that differed and stayed as they were, at most 128. More is set if there may be others: compare
	// again, which begins behind these.
	Keys []Difference
	More bool
	// Segments is how many differed, as far as they were examined. Unknown is how many were not compared, as it is not
	// known what they have.
	Segments, Unknown int
}

// Compare compares the Tree with a source: the digests; after a pause those that differed, and the keys of what
// differs still; after another pause these keys. It returns those that differed all along and did not change
// meanwhile. The source is scanned once if nothing differs, and twice otherwise. Rows are compared by Key and Version;
// a source without versions needs a Tree that is told 0: then only missing keys are found.
//
// A pause is a random time between the half of pause and one and a half; 0 is none. It must be longer than what lies
// between the commit of a change in the source and Confirmed, when nothing is wrong.
//
// A difference is a reason to inspect the index, not more: the service may have confirmed what the Tree was not told
// before a crash, and what was written a moment ago may be on its way. Tell the Tree what the index has, with
// Confirmed or Deleted, and it will not differ again. ctx bounds all of it. The error is that of the source, of the
// disk, or of a Tree that is closed.
func (t *Tree) Compare(ctx context.Context, source Source, pause time.Duration) (Differences, error) {
	c := comparison{tree: t, source: source, pause: pause}
	if err := c.run(ctx); err != nil {
		return Differences{}, fmt.Errorf("digesttree: comparing: %w", err)
	}
	return c.found, nil
}

// comparison is a Compare under way.
type comparison struct {
	tree   *Tree
	source Source
	pause  time.Duration
	after  string // the last key that was found before; the first comparison begins at any segment
	begin  int    // its segment
	found  Differences
}

func (c *comparison) run(ctx context.Context) error {
	t := c.tree
	t.mu.Lock()
	c.after, c.begin = t.after, t.shape.segment(hashOf(t.after))
	t.mu.Unlock()
	// 1. Digests.
	var first []int
	if err := c.look(ctx, nil, func(_ *view, _ map[int][]models.Row, differ []int) error {
		first = differ
		return nil
	}); err != nil {
		return err
	}
	t.mu.Lock() // those that do not differ any more begin again
	maps.DeleteFunc(t.fruitless, func(segment, _ int) bool { return !slices.Contains(first, segment) })
	t.mu.Unlock()
	if len(first) == 0 {
		return nil
	}
	most := t.most // each has a key that differs, at least
	if first[0] == c.begin {
		most++ // but here it may be one that was found
	}
	if len(first) > most {
		first, c.found.More = first[:most], true
	}
	// 2. Digests again, and keys.
	if err := c.wait(ctx); err != nil {
		return err
	}
	var keys []Difference
	if err := c.look(ctx, first, func(here *view, there map[int][]models.Row, differ []int) (err error) {
		keys, err = c.keys(here, there, differ)
		return err
	}); err != nil || len(keys) == 0 {
		return err
	}
	// 3. Keys again.
	if err := c.wait(ctx); err != nil {
		return err
	}
	if err := c.confirm(ctx, keys); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = keys[len(keys)-1].Key
	return nil
}

// wait waits for a jittered pause, so that what has a rhythm is not met at the same moment of it again.
func (c *comparison) wait(ctx context.Context) error {
	return sleep(ctx, c.pause/2+rand.N(max(c.pause, 0)+1))
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waiting.Done()
	return context.Cause(ctx)
}

// look has use see both sides, and the segments whose digests differ, the one behind the last key that was found
// first: of those in only, or of all if that is nil. The rows of the source are those of only. The source is read
// first: what happens in between is then told to the Tree already, and is not missing here.
func (c *comparison) look(ctx context.Context, only []int, use func(here *view, there map[int][]models.Row, differ []int) error) (err error) {
	shape := c.tree.shape
	var wanted []bool
	if only != nil {
		wanted = make([]bool, shape.segments())
	}
	for _, segment := range only {
		wanted[segment] = true
	}
	digests, there := make([]uint64, shape.segments()), make(map[int][]models.Row, len(only))
	for row, err := range c.source.Scan(ctx, "", "") {
		if err != nil {
			return err
		}
		hash := hashOf(row.Key)
		segment := shape.segment(hash)
		if !row.Hidden {
			digests[segment] += digestOf(hash, row.Version)
		}
		if only != nil && wanted[segment] {
			there[segment] = append(there[segment], row)
		}
	}
	if ctx.Err() != nil { // a source that ends early is not one that has less
		return context.Cause(ctx)
	}
	here, err := c.tree.view(wanted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, here.release()) }()
	if here.told.records > len(digests)/2 {
		here.window.wide = wideWindow
	}
	c.found.Unknown = 0
	var before, differ []int
	for i := range digests {
		digest, err := here.digest(i)
		switch {
		case err != nil:
			return err
		case i%256 == 0 && ctx.Err() != nil:
			return context.Cause(ctx)
		case here.built[i] == 0:
			c.found.Unknown++
		case digest == digests[i] || only != nil && !wanted[i]:
		case i < c.begin:
			before = append(before, i)
		default:
			differ = append(differ, i)
		}
	}
	here.window.wide = 0
	return use(here, there, append(differ, before...))
}

// keys returns the keys that differ, as many as are wanted, in the order of segments.
func (c *comparison) keys(here *view, there map[int][]models.Row, differ []int) ([]Difference, error) {
	t := c.tree
	c.found.Segments = len(differ)
	var all, last []Difference
	for _, segment := range differ {
		if len(all) >= c.tree.most {
			c.found.More = true
			break
		}
		rows, err := here.rows(segment)
		if errors.Is(err, errDamaged) { // found only now
			c.found.Unknown++
			continue
		}
		if err != nil {
			return nil, err
		}
		some := differences(rows, there[segment])
		t.mu.Lock()
		t.fruitless[segment]++
		switch {
		case len(some) > 0:
			delete(t.fruitless, segment)
		case t.fruitless[segment] >= 2: // its digest is wrong: it must be built again
			t.forget(segment)
			t.stats.Fruitless++
		}
		t.mu.Unlock()
		if segment == c.begin { // those up to the last one that was found come behind all others
			i := sort.Search(len(some), func(i int) bool { return some[i].Key > c.after })
			last, some = some[:i], some[i:]
		}
		all = append(all, some...)
	}
	if !c.found.More { // otherwise there are segments before them, and the next call would begin here again
		all = append(all, last...)
	}
	if len(all) > c.tree.most {
		all, c.found.More = all[:c.tree.most], true
	}
	return all, nil
}

// confirm leaves the keys that are as they were.
func (c *comparison) confirm(ctx context.Context, all []Difference) (err error) {
	keys, wanted := make([]string, len(all)), make([]bool, c.tree.shape.segments())
	for i, d := range all {
		keys[i], wanted[c.tree.shape.segment(hashOf(d.Key))] = d.Key, true
	}
	there, err := c.source.Lookup(ctx, keys)
	if err = cmp.Or(err, context.Cause(ctx)); err != nil { // as in look
		return err
	}
	v, err := c.tree.view(wanted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	var here []models.Row // and other keys of the same segments
	for segment, is := range wanted {
		if !is {
			continue
		}
		rows, err := v.rows(segment)
		if err != nil {
			return err
		}
		here = append(here, rows...)
	}
	now := differences(here, there)
	for _, d := range all {
		if slices.Contains(now, d) {
			c.found.Keys = append(c.found.Keys, d)
		}
	}
	return nil
}

// differences compares rows by key, and returns what differs in the order of keys. A row that is Hidden is not there.
func differences(here, there []models.Row) (all []Difference) {
	x := make(map[string]int64, len(here))
	for _, r := range here {
		x[r.Key] = r.Version
	}
	y := make(map[string]int64, len(there))
	for _, r := range there {
		if r.Hidden {
			continue
		}
		y[r.Key] = r.Version
		if version, ok := x[r.Key]; !ok || version != r.Version {
			all = append(all, Difference{Key: r.Key, Here: version, There: r.Version, MissingHere: !ok})
		}
	}
	for key, version := range x {
		if _, ok := y[key]; !ok {
			all = append(all, Difference{Key: key, Here: version, MissingThere: true})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return all
}
