package deadletter

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// FuzzRead reads any two files as dead letters and journal. The result of Read must not change when Open repairs the
// files, when a replay rewrites them, or when the input is split elsewhere.
func FuzzRead(f *testing.F) {
	one, two, three := lineOf(1), lineOf(2), lineOf(3)
	f.Add([]byte(one+two+three), []byte(`{"done":[2]}`+"\n"))
	f.Add([]byte(one+two[:40]), []byte(`{"done":[1],"again":[{"n":2,"status":422}]}`))
	f.Add([]byte("damage\n"+one+"\n\n"+one), []byte(`{"again":[{"n":1,"message":"x"}]}`+"\n{\n"+`{"done":[7]}`))
	f.Add([]byte(`{"n":1,"key":"k","action":"delete","document":null}`), []byte{})
	f.Add([]byte(`{"n":1,"N":2,"key":"k","action":"merge","document":[1,{}],"first":"x"}`+"\n"), []byte("\n\n"))
	f.Add(bytes.Repeat([]byte{0}, 100), bytes.Repeat([]byte{'\n'}, 100))
	f.Fuzz(func(t *testing.T, letters, journal []byte) {
		d := disktest.New()
		d.Put(stemA+lettersExt, string(letters))
		d.Put(stemA+journalExt, string(journal))
		before, errs := read(d)
		for _, err := range errs {
			if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) {
				t.Fatalf("unexpected error %v", err)
			}
		}
		file := openDisk(t, d, nil)
		after, errsAfter := read(d)
		if !sameLetters(t, before, after) || len(errs) != len(errsAfter) {
			t.Fatalf("Open made %d letters and %d errors into %d and %d", len(before), len(errs), len(after), len(errsAfter))
		}
		if n, err := file.Discard(t.Context(), func(Letter) bool { return false }); n != 0 || err != nil {
			t.Fatalf("Discard of nothing: %d, %v", n, err)
		}
		if rewritten, errs := read(d); !sameLetters(t, before, rewritten) || len(errs) != len(errsAfter) {
			t.Fatalf("%d letters and %d errors after a walk, %d and %d before", len(rewritten), len(errs), len(before), len(errsAfter))
		}
		if n, err := file.Discard(t.Context(), func(Letter) bool { return true }); n != len(before) || err != nil {
			t.Fatalf("Discard of everything: %d of %d, %v", n, len(before), err)
		}
		if left, errs := read(d); len(left) != 0 || len(errs) != len(errsAfter) {
			t.Fatalf("Discard of everything left %d letters and %d errors", len(left), len(errs))
		}
	})
}

// sameLetters compares the stored form, because a rewrite compacts documents with blanks.
func sameLetters(t *testing.T, a, b []Letter) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// FuzzLines compares with a reader that keeps everything in memory.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nbcd\ne"), 3)
	f.Add([]byte("\n"), 1)
	f.Add(bytes.Repeat([]byte("0123456789"), 7_000), 100)
	f.Fuzz(func(t *testing.T, content []byte, limit int) {
		limit = 1 + limit&0xffff
		parts := bytes.SplitAfter(content, []byte("\n"))
		if len(parts[len(parts)-1]) == 0 {
			parts = parts[:len(parts)-1]
		}
		i, end := 0, 0
		for l, err := range linesOf(bytes.NewReader(content), limit) {
			if err != nil {
				t.Fatal(err)
			}
			if i >= len(parts) {
				t.Fatalf("more lines than the %d that there are", len(parts))
			}
			want := parts[i]
			i++
			end += len(want)
			switch {
			case l.number != i, l.end != int64(end), l.ended != bytes.HasSuffix(want, []byte("\n")), l.long != (len(want) > limit):
				t.Fatalf("line %d: %+v of %q", i, l, want)
			case !l.long && !slices.Equal(l.raw, bytes.TrimSuffix(want, []byte("\n"))):
				t.Fatalf("line %d is %q, not %q", i, l.raw, want)
			case len(l.raw) > limit:
				t.Fatalf("line %d: %d bytes are in memory, the limit is %d", i, len(l.raw), limit)
			}
		}
		if i != len(parts) {
			t.Fatalf("%d of %d lines", i, len(parts))
		}
	})
}
