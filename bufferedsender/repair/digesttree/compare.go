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

// maxDifferences is how many keys a Compare returns at most.
const maxDifferences = 128

// Source is a set of rows that can be scanned and looked up by key, for example a source of package repair. Its methods
// are called by one goroutine at a time.
type Source interface {
	// Scan yields the rows with keys greater than after and at most through; an empty bound does not limit. It stops after
	// its first error.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of the keys that exist, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Difference is a key in which tree and source differ.
type Difference struct {
	Key string
	// Here is the version of the Tree, There that of the source. The side with the smaller version is behind. MissingHere
	// is set if the Tree has no such key, MissingThere if the source has none; the version of that side is then 0.
	Here, There               int64
	MissingHere, MissingThere bool
}

// Differences is the result of Compare.
type Differences struct {
	// Keys are those that differed and did not change meanwhile, at most 128. More is set if there may be others: the next
	// call of Compare begins behind these.
	Keys []Difference
	More bool
	// Segments is the number of differing segments, as far as they were checked. Unknown is the number of segments not
	// compared, because their content is not known.
	Segments, Unknown int
}

// Compare compares the Tree with a source in three steps: the digests of all segments; after a pause the segments that
// differed, and their keys; after another pause these keys. It returns the keys that differed all along and did not
// change meanwhile. The source is scanned once if nothing differs, and twice otherwise. Rows are compared by Key and
// Version. For a source without versions record version 0 in the Tree; then only missing keys are found.
//
// A pause is random, from half of pause to one and a half times pause; 0 means none. pause must be longer than the
// usual delay from the commit of a change in the source to its Confirmed.
//
// A difference is only a reason to inspect the index: the service may have confirmed what the Tree lost in a crash, and
// a recent write may be under way. Record what the index has by Confirmed or Deleted, and the key will not differ
// again. ctx bounds the call. The error is that of the source, of the disk, or of a closed Tree.
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
	after  string // the last key returned before; "" at first
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
	t.mu.Lock() // only segments that keep differing count as fruitless
	maps.DeleteFunc(t.fruitless, func(segment, _ int) bool { return !slices.Contains(first, segment) })
	t.mu.Unlock()
	if len(first) == 0 {
		return nil
	}
	most := t.most // each has at least one differing key
	if first[0] == c.begin {
		most++ // except this one: its keys may have been returned before
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

// wait waits for a random pause, so that a periodic writer is not hit at the same moment again.
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

// look calls use with both sides and the segments whose digests differ, beginning with the segment of the last returned
// key. It compares the segments in only, or all if only is nil, and passes rows of the source only for those in only.
// The source is read before the tree: a change in between is then in the tree, and not missing.
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
	if ctx.Err() != nil { // a scan cut off by ctx lacks rows
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

// keys returns the differing keys of the segments, up to the maximum, in segment order.
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
		if errors.Is(err, errDamaged) { // detected only now
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
		case t.fruitless[segment] >= 2: // its digest is wrong: build it again
			t.forget(segment)
			t.stats.Fruitless++
		}
		t.mu.Unlock()
		if segment == c.begin { // keys up to the last returned one come after all others
			i := sort.Search(len(some), func(i int) bool { return some[i].Key > c.after })
			last, some = some[:i], some[i:]
		}
		all = append(all, some...)
	}
	if !c.found.More { // otherwise the next call would begin here again, before segments not checked yet
		all = append(all, last...)
	}
	if len(all) > c.tree.most {
		all, c.found.More = all[:c.tree.most], true
	}
	return all, nil
}

// confirm keeps the differences that are unchanged.
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
	var here []models.Row // includes other keys of the same segments
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

// differences compares rows by key, and returns the differences in key order. A Hidden row counts as absent.
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
