package digesttree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// MaxDifferences is how many keys a Compare finds at the most.
const MaxDifferences = 128

// DefaultPause is that of CompareOptions.
const DefaultPause = 500 * time.Millisecond

// CompareOptions are for Compare. The zero value, or nil, is what most programs need.
type CompareOptions struct {
	// Pause is how long to wait before what differs is looked at again, twice if something does: a random time between the half of it and one and a half. It is to be longer than
	// what lies between the commit of a change in the source and Confirmed, when nothing is wrong. Defaults to 500 ms; negative: none.
	Pause time.Duration
	// MaxKeys is how many keys to find at the most. Defaults to MaxDifferences, which is the most; negative is refused.
	MaxKeys int
}

func (o *CompareOptions) withDefaults() (CompareOptions, error) {
	var c CompareOptions
	if o != nil {
		c = *o
	}
	if c.MaxKeys < 0 || c.MaxKeys > MaxDifferences {
		return c, fmt.Errorf("digesttree: MaxKeys is %d: use at most %d, or 0 for that", c.MaxKeys, MaxDifferences)
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = MaxDifferences
	}
	if c.Pause == 0 {
		c.Pause = DefaultPause
	}
	return c, nil
}

// place is a key of a segment.
type place struct {
	segment int
	key     string
}

// Compare compares the Tree with another side: the digests; after a pause those that differed, and the keys of what differs still; after another pause these
// keys. It returns those that differed all along and did not change meanwhile. If nothing differs it returns at once.
//
// A difference is a reason to look into the index, not more: the service may have confirmed what the Tree was not told before a crash, and what was written a moment ago
// may be on its way. Tell the Tree what the index has, with Confirmed or Deleted, and it will not differ again.
//
// It takes as long as the sides need: the Tree reads what it has of the segments that have changed since they were folded, from the disk. ctx bounds all of it. The error is ErrClosed,
// ErrShape, that of a side or that of the disk.
func (t *Tree) Compare(ctx context.Context, other Side, opts *CompareOptions) (Differences, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return Differences{}, err
	}
	c := comparison{tree: t, other: other, options: options}
	if err := c.run(ctx); err != nil {
		return Differences{}, fmt.Errorf("digesttree: comparing: %w", err)
	}
	return c.found, nil
}

// comparison is a Compare under way.
type comparison struct {
	tree    *Tree
	other   Side
	options CompareOptions
	after   place
	found   Differences
}

func (c *comparison) run(ctx context.Context) error {
	t := c.tree
	t.mu.Lock()
	c.after = t.after
	t.mu.Unlock()
	// 1. Digests.
	var first []int
	if err := c.snapshots(ctx, nil, func(here, there Snapshot) (err error) {
		first, err = c.walk(ctx, here, there)
		return err
	}); err != nil {
		return err
	}
	t.keepFruitless(first)
	first = c.rotate(first)
	if len(first) == 0 {
		return nil
	}
	most := c.options.MaxKeys // each has a key that differs, at least
	if first[0] == c.after.segment {
		most++ // but here it may be one that was found
	}
	if len(first) > most {
		first, c.found.More = first[:most], true
	}
	if err := c.pause(ctx); err != nil {
		return err
	}
	// 2. Digests again, and keys.
	var keys []Difference
	if err := c.snapshots(ctx, first, func(here, there Snapshot) (err error) {
		keys, err = c.keys(ctx, here, there, first)
		return err
	}); err != nil {
		return err
	}
	if len(keys) == 0 {
		return nil
	}
	if err := c.pause(ctx); err != nil {
		return err
	}
	// 3. Keys again.
	if err := c.confirm(ctx, keys); err != nil {
		return err
	}
	last := keys[len(keys)-1].Key
	t.mu.Lock()
	t.after = place{t.shape.segment(hashOf(last)), last}
	t.mu.Unlock()
	return nil
}

// pause waits for a jittered time, so that what has a rhythm is not met at the same moment of it again.
func (c *comparison) pause(ctx context.Context) error {
	if c.options.Pause < 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(c.options.Pause/2 + rand.N(c.options.Pause+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// snapshots has do see both sides. The other one is read first: what happens in between is then told to the Tree already, and is not missing here.
func (c *comparison) snapshots(ctx context.Context, only []int, do func(here, there Snapshot) error) (err error) {
	there, err := c.other.Snapshot(ctx, c.tree.shape.bits, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	here, err := c.tree.Snapshot(ctx, c.tree.shape.bits, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, here.Close()) }()
	return do(here, there)
}

// walk returns the segments that differ, in order: from the root to the branches, and to the segments of those that differ.
func (c *comparison) walk(ctx context.Context, here, there Snapshot) ([]int, error) {
	s := c.tree.shape
	skip, err := c.unknown(ctx, here, there)
	if err != nil || len(skip) == s.segments() {
		return nil, err
	}
	// Sums that are equal say that nothing differs, also where a segment is unknown: what differed in others would have to cancel it.
	root, err := here.Root(ctx)
	if err != nil {
		return nil, err
	}
	otherRoot, err := there.Root(ctx)
	if err != nil || root == otherRoot {
		return nil, err
	}
	x, err := here.Branches(ctx)
	if err != nil {
		return nil, err
	}
	y, err := there.Branches(ctx)
	if err != nil {
		return nil, err
	}
	if len(x) != s.branches() || len(y) != s.branches() {
		return nil, ErrShape
	}
	var all []int
	for branch := range x {
		if x[branch] == y[branch] {
			continue
		}
		differ, err := c.walkBranch(ctx, here, there, branch)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(differ, func(segment int) bool { return skip[segment] })...)
	}
	return all, nil
}

// still returns those of some segments that differ, in order.
func (c *comparison) still(ctx context.Context, here, there Snapshot, some []int) (all []int, err error) {
	skip, err := c.unknown(ctx, here, there)
	if err != nil {
		return nil, err
	}
	n := c.tree.shape.perBranch()
	some = slices.Sorted(slices.Values(some))
	for i := 0; i < len(some); {
		branch := some[i] / n
		differ, err := c.walkBranch(ctx, here, there, branch)
		if err != nil {
			return nil, err
		}
		for ; i < len(some) && some[i]/n == branch; i++ {
			if _, found := slices.BinarySearch(differ, some[i]); found && !skip[some[i]] {
				all = append(all, some[i])
			}
		}
	}
	return all, nil
}

// walkBranch returns the segments of a branch that differ, in order.
func (c *comparison) walkBranch(ctx context.Context, here, there Snapshot, branch int) (all []int, err error) {
	n := c.tree.shape.perBranch()
	x, err := here.Segments(ctx, branch)
	if err != nil {
		return nil, err
	}
	y, err := there.Segments(ctx, branch)
	if err != nil {
		return nil, err
	}
	if len(x) != n || len(y) != n {
		return nil, ErrShape
	}
	for i := range x {
		if x[i] != y[i] {
			all = append(all, branch*n+i)
		}
	}
	return all, nil
}

// unknown returns the segments that one of the sides does not know.
func (c *comparison) unknown(ctx context.Context, sides ...Snapshot) (map[int]bool, error) {
	all := make(map[int]bool)
	for _, side := range sides {
		some, err := side.Unknown(ctx)
		if err != nil {
			return nil, err
		}
		for _, segment := range some {
			if segment < 0 || segment >= c.tree.shape.segments() {
				return nil, ErrShape
			}
			all[segment] = true
		}
	}
	c.found.Unknown = len(all)
	return all, nil
}

// rotate has segments begin with that of the last key that was found, and end before it.
func (c *comparison) rotate(segments []int) []int {
	i, _ := slices.BinarySearch(segments, c.after.segment) // one that does not differ any more has a place too
	return slices.Concat(segments[i:], segments[:i])
}

// keys returns the keys that differ, as many as are wanted, in the order of segments.
func (c *comparison) keys(ctx context.Context, here, there Snapshot, first []int) ([]Difference, error) {
	differ, err := c.still(ctx, here, there, first)
	if err != nil {
		return nil, err
	}
	c.found.Segments = len(differ)
	var all, last []Difference
	for _, segment := range c.rotate(differ) {
		if len(all) >= c.options.MaxKeys {
			c.found.More = true
			break
		}
		x, err := here.Rows(ctx, segment)
		if errors.Is(err, errDamaged) { // found only now
			c.found.Unknown++
			continue
		}
		if err != nil {
			return nil, err
		}
		y, err := there.Rows(ctx, segment)
		if err != nil {
			return nil, err
		}
		some := differences(x, y)
		c.tree.yielded(segment, len(some) > 0, &c.found)
		if segment == c.after.segment { // those up to the last one that was found come behind all others
			i, _ := slices.BinarySearchFunc(some, c.after.key+"\x00", func(d Difference, key string) int { return strings.Compare(d.Key, key) }) // no key is equal: it is the next one that is looked for
			last, some = some[:i], some[i:]
		}
		all = append(all, some...)
	}
	if !c.found.More { // otherwise there are segments before them, and the next call would begin here again
		all = append(all, last...)
	}
	if len(all) > c.options.MaxKeys {
		all, c.found.More = all[:c.options.MaxKeys], true
	}
	return all, nil
}

// confirm leaves the keys that are as they were.
func (c *comparison) confirm(ctx context.Context, all []Difference) error {
	keys := make([]string, len(all))
	for i, d := range all {
		keys[i] = d.Key
	}
	y, err := c.other.Lookup(ctx, keys)
	if err != nil {
		return err
	}
	x, err := c.tree.Lookup(ctx, keys)
	if err != nil {
		return err
	}
	now := differences(x, y)
	for _, d := range all {
		if slices.Contains(now, d) {
			c.found.Keys = append(c.found.Keys, d)
		}
	}
	return nil
}

// keepFruitless forgets of the segments that do not differ that they did, and yielded nothing.
func (t *Tree) keepFruitless(differ []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.fruitless, func(segment, _ int) bool {
		_, found := slices.BinarySearch(differ, segment)
		return !found
	})
}

// yielded takes note of whether a segment that differs has keys that do. The second time that it has none it is to be built anew.
func (t *Tree) yielded(segment int, keys bool, found *Differences) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if keys {
		delete(t.fruitless, segment)
		return
	}
	if t.fruitless[segment]++; t.fruitless[segment] >= 2 {
		t.forget(segment)
		t.stats.Fruitless++
		found.Fruitless++
	}
}
