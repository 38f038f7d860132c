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

// maxDifferences is how many keys a Compare finds at the most.
const maxDifferences = 128

// defaultPause is that of CompareOptions.
const defaultPause = 500 * time.Millisecond

// CompareOptions are for Compare. The zero value, or nil, is what most programs need.
type CompareOptions struct {
	// Pause is how long to wait before what differs is looked at again, twice if something does: a random time
	// between the half of it and one and a half. It is to be longer than what lies between the commit of a change in
	// the source and Confirmed, when nothing is wrong. Defaults to 500 ms; negative: none.
	Pause time.Duration
	// MaxKeys is how many keys to find at the most. Defaults to maxDifferences, which is the most; negative is refused.
	MaxKeys int
}

func (o *CompareOptions) withDefaults() (CompareOptions, error) {
	var c CompareOptions
	if o != nil {
		c = *o
	}
	if c.MaxKeys < 0 || c.MaxKeys > maxDifferences {
		return c, fmt.Errorf("digesttree: MaxKeys is %d: use at most %d, or 0 for that", c.MaxKeys, maxDifferences)
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = maxDifferences
	}
	if c.Pause == 0 {
		c.Pause = defaultPause
	}
	return c, nil
}

// place is a key of a segment.
type place struct {
	segment int
	key     string
}

// Compare compares the Tree with a source: the digests; after a pause those that differed, and the keys of what
// differs still; after another pause these keys. It returns those that differed all along and did not change
// meanwhile. If nothing differs it returns at once. The source is scanned once if nothing differs, and twice
// otherwise. Rows are compared by Key and Version; a source without versions needs a Tree that is told 0: then only
// missing keys are found.
//
// A difference is a reason to inspect the index, not more: the service may have confirmed what the Tree was not told
// before a crash, and what was written a moment ago may be on its way. Tell the Tree what the index has, with
// Confirmed or Deleted, and it will not differ again.
//
// It takes as long as the source needs: the Tree reads what it has of the segments that have changed since they were
// folded, from the disk. ctx bounds all of it. The error is ErrClosed, that of the source or that of the disk.
func (t *Tree) Compare(ctx context.Context, source Source, opts *CompareOptions) (Differences, error) {
	return t.compare(ctx, scanned{source}, opts)
}

func (t *Tree) compare(ctx context.Context, other side, opts *CompareOptions) (Differences, error) {
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
	other   side
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
	if err := c.snapshots(ctx, nil, func(here, there *snapshot) error {
		first = c.differ(here, there, nil)
		return nil
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
	if err := c.snapshots(ctx, first, func(here, there *snapshot) (err error) {
		keys, err = c.keys(here, there, first)
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

// snapshots has do see both sides. The other one is read first: what happens in between is then told to the Tree
// already, and is not missing here.
func (c *comparison) snapshots(ctx context.Context, only []int, do func(here, there *snapshot) error) (err error) {
	there, err := c.other.snapshot(ctx, c.tree.shape.bits, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, there.close()) }()
	here, err := c.tree.snapshot(ctx, c.tree.shape.bits, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, here.close()) }()
	return do(here, there)
}

// differ returns the segments whose digests differ, in order: of those in some, or of all if that is nil. Those that
// a side does not know are counted.
func (c *comparison) differ(here, there *snapshot, some []int) (all []int) {
	wanted := c.tree.shape.some(some)
	c.found.Unknown = 0
	for i, digest := range here.digests {
		switch {
		case !here.known(i) || !there.known(i):
			c.found.Unknown++
		case digest != there.digests[i] && (wanted == nil || wanted[i]):
			all = append(all, i)
		}
	}
	return all
}

// rotate has segments begin with that of the last key that was found, and end before it.
func (c *comparison) rotate(segments []int) []int {
	i, _ := slices.BinarySearch(segments, c.after.segment) // one that does not differ any more has a place too
	return slices.Concat(segments[i:], segments[:i])
}

// keys returns the keys that differ, as many as are wanted, in the order of segments.
func (c *comparison) keys(here, there *snapshot, first []int) ([]Difference, error) {
	differ := c.differ(here, there, first)
	c.found.Segments = len(differ)
	var all, last []Difference
	for _, segment := range c.rotate(differ) {
		if len(all) >= c.options.MaxKeys {
			c.found.More = true
			break
		}
		x, err := here.rows(segment)
		if errors.Is(err, errDamaged) { // found only now
			c.found.Unknown++
			continue
		}
		if err != nil {
			return nil, err
		}
		y, err := there.rows(segment)
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
	y, err := c.other.lookup(ctx, keys)
	if err != nil {
		return err
	}
	x, err := c.tree.lookup(ctx, keys)
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

// yielded takes note of whether a segment that differs has keys that do. The second time that it has none it is to be
// built anew.
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
