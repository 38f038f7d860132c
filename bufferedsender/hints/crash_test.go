package hints

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/journal"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// fileOf returns a file with a snapshot of parts, and a frame for each further function.
func fileOf(parts []part, changes ...func(f *operations)) (whole string, ends []int) {
	var b bytes.Buffer
	b.WriteString(format.Magic)
	seq := uint32(0)
	put := func(frame []byte) {
		seq++
		journal.Seal(frame, seq)
		b.Write(frame)
	}
	writeSnapshot(put, parts)
	ends = append(ends, b.Len())
	for _, change := range changes {
		var f operations
		change(&f)
		f.Seal()
		put(f.Sealed[0])
		ends = append(ends, b.Len())
	}
	return b.String(), ends
}

func adds(index string, keys ...string) func(f *operations) {
	return func(f *operations) {
		for _, key := range keys {
			f.add(opAdd, index, key)
		}
	}
}

func one(o op, index, key string) func(f *operations) {
	return func(f *operations) { f.add(o, index, key) }
}

// openFile opens the file on a disk. damage is nil if it is intact.
func openFile(t testing.TB, d *disktest.Disk) (_ *Set, damage *journal.Damage, err error) {
	t.Helper()
	s := new(Set)
	if err = s.open(d); err == nil {
		return s, nil, nil
	}
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "hints.log")
	require.ErrorContains(t, err, "remove the file and call AddEverything for each index")
	require.ErrorAs(t, err, &damage)
	return nil, damage, err
}

func TestDiskStatesThatACrashLeaves(t *testing.T) {
	first, _ := fileOf([]part{{name: "hotels", keys: [2][]string{{"a", "b"}}}})
	second, _ := fileOf([]part{{name: "hotels", keys: [2][]string{{"a", "b", "c"}}}})
	grown, ends := fileOf([]part{{name: "hotels", keys: [2][]string{{"a", "b"}}}}, adds("hotels", "c"), one(opDone, "hotels", "a"))
	marked, _ := fileOf([]part{{name: "hotels", all: true, keys: [2][]string{{"a"}}}})
	compared, _ := fileOf([]part{{name: "hotels", all: true, keys: [2][]string{{"a"}}}}, one(opCompared, "hotels", ""))
	again, _ := fileOf([]part{{name: "hotels", keys: [2][]string{{"a", "b"}}}}, one(opDone, "hotels", "a"), adds("hotels", "a"))
	type disk = map[string]string
	for name, c := range map[string]struct {
		disk disk
		want []string
	}{
		"nothing":                       {disk{}, []string{}},
		"C1, an empty tmp":              {disk{tmpName: ""}, []string{}},
		"C2, a torn tmp":                {disk{fileName: first, tmpName: second[:40]}, []string{"a", "b"}},
		"C2, a whole tmp":               {disk{fileName: first, tmpName: second}, []string{"a", "b"}},
		"C4, renamed":                   {disk{fileName: second}, []string{"a", "b", "c"}},
		"A1, nothing of a frame":        {disk{fileName: grown[:ends[1]]}, []string{"a", "b", "c"}},
		"A1, a part of a frame":         {disk{fileName: grown[:ends[2]-1]}, []string{"a", "b", "c"}},
		"A1, zeros for a frame":         {disk{fileName: grown[:ends[1]] + strings.Repeat("\x00", 50)}, []string{"a", "b", "c"}},
		"A2":                            {disk{fileName: grown}, []string{"b", "c"}},
		"the mark, with keys behind it": {disk{fileName: marked}, []string{everythingMark}},
		"the mark taken off":            {disk{fileName: compared}, []string{"a"}},
		"done and added again":          {disk{fileName: again}, []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := disktest.New()
			for name, content := range c.disk {
				d.Put(name, content)
			}
			s := openDisk(t, d, 0)
			add(t, s, "cities", "x")
			write(t, s)
			require.NotContains(t, d.Files(), tmpName)
			s = openDisk(t, d, 0)
			require.Equal(t, c.want, drain(s, "hotels"))
			require.Equal(t, []string{"x"}, drain(s, "cities"))
			require.Empty(t, indexes(s))
		})
	}
}

func TestAFileCutAtAnyByteKeepsWholeFramesOrIsDamaged(t *testing.T) {
	whole, ends := fileOf([]part{{name: "hotels", keys: [2][]string{{"a"}}}}, adds("hotels", "b", "c"), adds("cities", "x"), one(opDone, "hotels", "b"))
	states := []map[string][]string{
		{"hotels": {"a"}},
		{"hotels": {"a", "b", "c"}},
		{"hotels": {"a", "b", "c"}, "cities": {"x"}},
		{"hotels": {"a", "c"}, "cities": {"x"}},
	}
	for cut := range len(whole) + 1 {
		d := disktest.New()
		d.Put(fileName, whole[:cut])
		s, damage, _ := openFile(t, d)
		if cut < ends[0] { // no crash leaves less than a snapshot
			require.NotNil(t, damage, "cut at %d", cut)
			continue
		}
		require.Nil(t, damage, "cut at %d", cut)
		last := 0
		for last+1 < len(ends) && ends[last+1] <= cut {
			last++
		}
		require.Equal(t, states[last], content(s), "cut at %d", cut)
		add(t, s, "new", "n")
		write(t, s)
		want := map[string][]string{"new": {"n"}}
		for name, keys := range states[last] {
			want[name] = keys
		}
		require.Equal(t, want, content(openDisk(t, d, 0)), "cut at %d: nothing is appended to a torn end", cut)
	}
}

func TestDamageOfAnyByteIsNoticedUnlessItCouldBeACrash(t *testing.T) {
	whole, ends := fileOf([]part{{name: "hotels", keys: [2][]string{{"a"}}}}, adds("hotels", "b", "c"), adds("cities", "x"))
	for at := range len(whole) {
		d := disktest.New()
		spoiled := []byte(whole)
		spoiled[at] ^= 0x55
		d.Put(fileName, string(spoiled))
		s, damage, err := openFile(t, d)
		if at >= ends[1] { // it looks truncated
			require.Nil(t, damage, "byte %d", at)
			require.Equal(t, map[string][]string{"hotels": {"a", "b", "c"}}, content(s))
			continue
		}
		require.Error(t, err, "byte %d", at)
		require.LessOrEqual(t, damage.Offset, int64(at))
		require.Equal(t, string(spoiled), d.Files()[fileName], "Open changes nothing")

		if version := len(format.Magic) - 1; at == version {
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, "corrupt version: got 84, want 1")
		}
	}
}

func TestAMissingFrameIsDamage(t *testing.T) {
	whole, ends := fileOf(nil, adds("hotels", "a"), adds("hotels", "b"), adds("hotels", "c"))
	d := disktest.New()
	d.Put(fileName, whole[:ends[1]]+whole[ends[2]:])
	_, damage, _ := openFile(t, d)
	require.NotNil(t, damage)
	require.Equal(t, int64(ends[1]), damage.Offset)

	d.Put(fileName, whole+strings.Repeat("\x00", 2*format.MaxPayload))
	_, damage, _ = openFile(t, d)
	require.NotNil(t, damage, "a frame is not that long")
	require.Equal(t, int64(len(whole)), damage.Offset)
}

// Keys of zeros and ones look like frame headers at every byte.
func TestASearchThatWouldTakeTooLongIsDamage(t *testing.T) {
	whole, ends := fileOf(nil)
	d := disktest.New()
	d.Put(fileName, whole+strings.Repeat("\x00\x00\x0f\x00", format.Full/4))
	_, damage, _ := openFile(t, d)
	require.NotNil(t, damage, "the damage is reported")
	require.Equal(t, int64(ends[0]), damage.Offset)
}

// scenario adds, takes and finishes keys, and records which states were synced or may be on disk.
type scenario struct {
	durable  map[string][]string
	maybe    []map[string][]string
	finished bool
}

func (c *scenario) run(t *testing.T, d *disktest.Disk) {
	s := openDisk(t, d, 0)
	sync := func() bool {
		c.maybe = append(c.maybe, content(s))
		if s.step() != nil {
			return false
		}
		c.durable, c.maybe = content(s), nil
		return true
	}
	add(t, s, "hotels", keysOf(0, 3)...)
	if !sync() {
		return
	}
	add(t, s, "cities", keysOf(0, 2)...)
	b := s.Take("hotels", 2)
	if !sync() {
		return
	}
	s.Done(b)
	add(t, s, "hotels", keysOf(3, 4)...)
	if !sync() {
		return
	}
	add(t, s, "cities", keysOf(2, 4)...)
	assertEverything(t, s, "hotels")
	if !sync() {
		return
	}
	// Enough for a rewrite: names of three characters, and keys that come and go.
	for range 90 {
		add(t, s, "other", strings.Repeat("x", journal.MaxKey))
		s.Done(s.Take("other", 1))
	}
	add(t, s, "cities", "last")
	drain(s, "hotels")
	if !sync() {
		return
	}
	add(t, s, "cities", "very last")
	c.finished = sync()
}

func assertEverything(t *testing.T, s *Set, index string) {
	t.Helper()
	require.NoError(t, s.AddEverything(index))
}

// The disk fails at each of its changes in turn, and different parts of the unsynced data survive.
func TestACrashAnywhereLeavesWhatWasDurableOrWasBeingWritten(t *testing.T) {
	parts := uint64(testkit.Cases(8, 40, 40))
	for at, finished := 0, false; !finished; at++ {
		for part := range parts {
			d := disktest.New()
			changes := 0
			d.Fail = func(string, string) error {
				if changes++; changes > at {
					return disktest.ErrDisk
				}
				return nil
			}
			var c scenario
			c.run(t, d)
			finished = c.finished
			random := rand.New(rand.NewPCG(part, uint64(at)))
			d.Crash(func(_ string, n int) int {
				switch part {
				case 0:
					return 0
				case 1:
					return n - 1
				}
				return random.IntN(n)
			})
			s := openDisk(t, d, 0)
			got := content(s)
			may := append([]map[string][]string{c.durable}, c.maybe...)
			require.True(t, slices.ContainsFunc(may, func(want map[string][]string) bool {
				return len(got)+len(want) == 0 || reflect.DeepEqual(got, want)
			}), "crash at change %d, part %d: %v is none of %v", at, part, got, may)
			add(t, s, "new", "n")
			write(t, s)
			got["new"] = []string{"n"}
			require.Equal(t, got, content(openDisk(t, d, 0)), fmt.Sprintf("crash at change %d, part %d", at, part))
		}
		require.Less(t, at, 100, "the scenario never ends")
	}
}
