// Package stagetest runs samples in tests.
package stagetest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// Outcome is the result of a run.
type Outcome struct {
	Code     int
	Out, Err string
}

// Run runs a sample with arguments.
func Run(ctx context.Context, t *testing.T, setup stage.Setup, args ...string) Outcome {
	t.Helper()
	var out bytes.Buffer
	// A file, because worker processes inherit it and write to it concurrently.
	complaints, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer complaints.Close()
	code := stage.Run(ctx, "sample", setup, args, strings.NewReader(""), &out, complaints)
	said, err := os.ReadFile(complaints.Name())
	if err != nil {
		t.Fatal(err)
	}
	return Outcome{code, out.String(), string(said)}
}

// Succeeds runs a sample. It must exit with 0 and print the texts in this order.
func Succeeds(t *testing.T, setup stage.Setup, args []string, texts ...string) Outcome {
	t.Helper()
	o := Run(t.Context(), t, setup, args...)
	if o.Code != 0 {
		t.Fatalf("exit code %d: %s\n%s", o.Code, o.Err, o.Out)
	}
	at := 0
	for _, text := range texts {
		found := strings.Index(o.Out[at:], text)
		if found < 0 {
			t.Errorf("%q does not follow in\n%s", text, o.Out)
			continue
		}
		at += found + len(text)
	}
	return o
}

// Refuses runs a sample with an invalid command line. It must report that on one line.
func Refuses(t *testing.T, setup stage.Setup, says string, args ...string) {
	t.Helper()
	o := Run(t.Context(), t, setup, args...)
	if o.Code != stage.ExitUsage || !strings.Contains(o.Err, says) || strings.Count(o.Err, "\n") != 1 || o.Out != "" {
		t.Errorf("%q: got exit code %d, stderr %q, stdout %q, want 2 and %q", args, o.Code, o.Err, o.Out, says)
	}
}

// Files writes files below a temporary directory.
func Files(t testing.TB, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
