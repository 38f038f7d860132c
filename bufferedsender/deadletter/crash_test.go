package deadletter

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

const (
	stemA = "letters-20261121T120427.000000001Z"
	stemB = "letters-20261121T120427.000000002Z"
)

// lineOf returns the line of dead letter n, whose version is also n.
func lineOf(n int) string {
	encoded, err := encodeLetter(letterOf(fmt.Sprintf("k%d", n), n), 0)
	if err != nil {
		panic(err)
	}
	return string(appendRecord(nil, int64(n), encoded))
}

func TestDiskStatesThatACrashLeaves(t *testing.T) {
	one, two, three := lineOf(1), lineOf(2), lineOf(3)
	type disk = map[string]string
	for name, c := range map[string]struct {
		disk    disk
		letters []int // before and after Open
		after   disk  // nil: unchanged
	}{
		"nothing":                  {disk{}, []int{}, nil},
		"letters":                  {disk{stemA + ".jsonl": one + two}, []int{1, 2}, nil},
		"two files":                {disk{stemB + ".jsonl": one, stemA + ".jsonl": two}, []int{2, 1}, nil},
		"W1, an empty file":        {disk{stemA + ".jsonl": ""}, []int{}, disk{}},
		"W2, a torn line":          {disk{stemA + ".jsonl": one + two[:50]}, []int{1}, disk{stemA + ".jsonl": one}},
		"W2, only a torn line":     {disk{stemA + ".jsonl": one[:50]}, []int{}, disk{}},
		"W2, one byte":             {disk{stemA + ".jsonl": one + "{"}, []int{1}, disk{stemA + ".jsonl": one}},
		"W2, all but line feed":    {disk{stemA + ".jsonl": one + two[:len(two)-1]}, []int{1, 2}, disk{stemA + ".jsonl": one + two}},
		"W2, zeros at the end":     {disk{stemA + ".jsonl": one + strings.Repeat("\x00", 4096)}, []int{1}, disk{stemA + ".jsonl": one}},
		"R3, a torn entry":         {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1`}, []int{1, 2}, nil},
		"R3, entry glued":          {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1` + "\n" + `{"done":[2]}` + "\n"}, []int{1}, nil},
		"R4, an entry":             {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1]}` + "\n"}, []int{2}, nil},
		"R4, lacks a line feed":    {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1]}`}, []int{2}, nil},
		"R5, a torn rewrite":       {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1]}`, stemA + ".tmp": two[:9]}, []int{2}, disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1]}`}},
		"R6, rewritten":            {disk{stemA + ".jsonl": two, stemA + ".done": `{"done":[1]}`}, []int{2}, nil},
		"R6, removed":              {disk{stemA + ".done": `{"done":[1,2]}`, stemB + ".jsonl": three}, []int{3}, disk{stemB + ".jsonl": three}},
		"R8, all done":             {disk{stemA + ".jsonl": one + two, stemA + ".done": `{"done":[1,2]}`}, []int{}, nil},
		"a journal of zeros":       {disk{stemA + ".jsonl": one, stemA + ".done": strings.Repeat("\x00", 512)}, []int{1}, nil},
		"files of another program": {disk{"notes.jsonl": "x", "letters-7.jsonl": "x", "letters-20261121T120427.1Z.jsonl": one, stemA + ".txt": "x"}, []int{}, nil},
		"blank lines":              {disk{stemA + ".jsonl": "\n" + one + "\n\n" + two}, []int{1, 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := disktest.New()
			for name, content := range c.disk {
				d.Put(name, content)
			}
			require.Equal(t, c.letters, versionsOf(readAll(t, d)), "before")
			f := openDisk(t, d, nil)
			require.Equal(t, c.letters, versionsOf(readAll(t, d)), "after")
			if c.after == nil {
				c.after = c.disk
			}
			require.Equal(t, c.after, d.Files())

			require.NoError(t, f.Write(t.Context(), []Letter{letterOf("new", 99)}))
			want := append(slices.Clone(c.letters), 99)
			require.Equal(t, want, versionsOf(readAll(t, d)), "and one more")
			service := &service{}
			report, err := Replay(t.Context(), f, testIndex, service, nil)
			require.NoError(t, err)
			require.Equal(t, Report{Sent: len(want), Delivered: len(want)}, report)
			require.Equal(t, want, service.applied)
			require.Empty(t, readAll(t, d))
			for name := range d.Files() {
				require.NotContains(t, name, stemA+".jsonl")
				require.NotContains(t, name, stemA+".done")
			}
			require.Equal(t, Stats{Written: 1}, f.Stats())
		})
	}
}

func TestAFileTornAtAnyByteLosesNoWholeLetterAndGluesNone(t *testing.T) {
	lines := []string{lineOf(1), lineOf(2), lineOf(3)}
	whole := strings.Join(lines, "")
	for cut := range len(whole) + 1 {
		want := []int{}
		for i, end := 0, 0; i < len(lines); i++ {
			if end += len(lines[i]); end-1 <= cut { // the final newline may be missing
				want = append(want, i+1)
			}
		}
		d := disktest.New()
		d.Put(stemA+lettersExt, whole[:cut])
		require.Equal(t, want, versionsOf(readAll(t, d)), "cut at %d", cut)
		f := openDisk(t, d, nil)
		require.Equal(t, want, versionsOf(readAll(t, d)), "cut at %d, opened", cut)
		require.NoError(t, f.Write(t.Context(), []Letter{letterOf("k4", 4)}))
		require.Equal(t, append(want, 4), versionsOf(readAll(t, d)), "cut at %d, written", cut)
		for name, content := range unmarked(d) {
			require.True(t, strings.HasSuffix(content, "\n"), "cut at %d: %s is torn: %q", cut, name, content)
		}
	}
}

func TestAJournalTornAtAnyByteForgetsEntriesAndLosesNone(t *testing.T) {
	entries := []string{`{"done":[1,3]}` + "\n", `{"again":[{"n":2,"status":422,"message":"again","last":"2026-11-21T12:04:27Z"}]}` + "\n"}
	whole := strings.Join(entries, "")
	for cut := range len(whole) + 1 {
		d := disktest.New()
		d.Put(stemA+lettersExt, lineOf(1)+lineOf(2)+lineOf(3)+lineOf(4))
		d.Put(stemA+journalExt, whole[:cut])
		want, message := []int{1, 2, 3, 4}, "no"
		if cut >= len(entries[0])-1 {
			want = []int{2, 4}
		}
		if cut >= len(whole)-1 {
			message = "again"
		}
		f := openDisk(t, d, nil)
		letters := readAll(t, d)
		require.Equal(t, want, versionsOf(letters), "cut at %d", cut)
		require.Equal(t, message, letters[slices.Index(want, 2)].Message, "cut at %d", cut)

		_, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) == 4 })
		require.NoError(t, err)
		require.Equal(t, want[:len(want)-1], versionsOf(readAll(t, d)), "cut at %d: an entry behind a torn one counts", cut)
	}
}

// scenario writes, replays and discards dead letters, and records the results reported.
type scenario struct {
	written   int   // last acknowledged version
	begun     int   // last version passed to Write
	delivered []int // versions that the service has applied
	discarded bool  // Discard has returned without an error
	finished  bool
}

func (s *scenario) run(ctx context.Context, d *disktest.Disk) {
	options := (&FileOptions{maxFileBytes: 900}).withDefaults() // three letters
	f, err := open(d, options)
	if err != nil {
		return
	}
	write := func(n int) {
		first := s.begun + 1
		s.begun += n
		if err = f.Write(ctx, lettersOf(first, n)); err == nil {
			s.written = s.begun
		}
	}
	if write(2); err != nil {
		return
	}
	if write(3); err != nil {
		return
	}
	sink := sender(func(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		service := &service{refused: map[int]bool{2: true, 5: true}, message: "again", sink: f}
		results, err := service.AddAndWait(ctx, actions)
		s.delivered = append(s.delivered, service.applied...)
		return results, err
	})
	if _, err = Replay(ctx, f, testIndex, sink, &ReplayOptions{maxActions: 2}); err != nil {
		return
	}
	if write(1); err != nil {
		return
	}
	if _, err = f.Discard(ctx, func(l Letter) bool { return versionOf(l) == 5 }); err != nil {
		return
	}
	s.discarded = true
	s.finished = f.Close() == nil
}

// The disk fails at each of its changes in turn, and different parts of the unsynced data survive.
func TestACrashAnywhereLosesNothingAndRepeatsOnlyWhatWasNotRecorded(t *testing.T) {
	parts := testkit.Cases(4, 12, 40) // nothing, all but one byte, and random parts
	for at, finished := 0, false; !finished; at++ {
		for part := range uint64(parts) {
			d := disktest.New()
			changes := 0
			d.Fail = func(string, string) error {
				if changes++; changes > at {
					return disktest.ErrDisk
				}
				return nil
			}
			var s scenario
			s.run(t.Context(), d)
			finished = s.finished
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
			before, errs := read(d)
			require.Empty(t, errs, "crash at change %d, part %d", at, part)
			f := openDisk(t, d, nil)
			require.Zero(t, f.Stats().Missing, "crash at change %d, part %d", at, part)
			letters := readAll(t, d)
			require.Equal(t, before, letters, "crash at change %d, part %d: Open changes nothing", at, part)
			versions := versionsOf(letters)
			what := fmt.Sprintf("crash at change %d, part %d: %+v left %v", at, part, s, versions)
			assert.True(t, slices.IsSorted(versions), what)
			assert.Equal(t, slices.Compact(slices.Clone(versions)), versions, "twice: "+what)
			for v := 1; v <= s.begun; v++ {
				there := slices.Contains(versions, v)
				gone := slices.Contains(s.delivered, v) || v == 5 && s.begun > 5
				if v <= s.written && !gone {
					assert.True(t, there, "version %d is lost: %s", v, what)
				}
				if s.begun > 5 && slices.Contains(s.delivered, v) || s.discarded && v == 5 {
					assert.False(t, there, "version %d is there again: %s", v, what)
				}
			}
			for _, l := range letters {
				if s.begun > 5 && versionOf(l) == 2 {
					assert.Equal(t, "again", l.Message, what)
				}
				assert.True(t, json.Valid(l.Document))
			}
			// Replay runs two at a time, so a crash repeats at most two.
			repeated := 0
			for _, v := range versions {
				if slices.Contains(s.delivered, v) {
					repeated++
				}
			}
			assert.LessOrEqual(t, repeated, 2, what)
			require.NoError(t, f.Write(t.Context(), []Letter{letterOf("new", 99)}))
			require.Equal(t, append(versions, 99), versionsOf(readAll(t, d)), what)
			if t.Failed() {
				return
			}
		}
		require.Less(t, at, 200, "the scenario never ends")
	}
}
