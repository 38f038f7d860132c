package testkit

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Golden fails the test unless got equals the file testdata/<name> of the tested package byte for byte; name may have
// slashes. With
//
//	go test ./thepackage -update
//
// it writes the file instead; read the file before you commit it. Without -update a missing file is a failure.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	if err := golden(filepath.Join("testdata", filepath.FromSlash(name)), got, *update); err != nil {
		t.Error(err)
	}
}

func golden(path string, got []byte, update bool) error {
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, got, 0o644)
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (run the test with -update to write it, and read it before committing)", err)
	}
	if err != nil {
		return err
	}
	return differ(path, want, got)
}

// differ returns nil if want and got are equal, and otherwise an error with the first difference.
func differ(path string, want, got []byte) error {
	if bytes.Equal(want, got) {
		return nil
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	start := bytes.LastIndexByte(want[:at], '\n') + 1
	return fmt.Errorf("%s differs in line %d, byte %d of %d wanted and %d got (-update rewrites the file):\n want %s\n  got %s",
		path, bytes.Count(want[:at], []byte("\n"))+1, at, len(want), len(got), excerpt(want, start, at), excerpt(got, start, at))
}

// excerpt returns the line of b that starts at start, quoted. A long line is shortened to the text around at.
func excerpt(b []byte, start, at int) string {
	const around = 120
	if start >= len(b) {
		return "(end of file)"
	}
	end := len(b)
	if n := bytes.IndexByte(b[start:], '\n'); n >= 0 {
		end = start + n + 1
	}
	before, after := "", ""
	if at-start > around {
		start, before = at-around, "…"
	}
	if end-at > around {
		end, after = at+around, "…"
	}
	return fmt.Sprintf("%s%q%s", before, b[start:end], after)
}
