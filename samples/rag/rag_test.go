package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func start(ctx context.Context, t *testing.T, args ...string) stagetest.Outcome {
	t.Helper()
	return stagetest.Run(ctx, t, program, args...)
}

// CI runs this story on the installed standard library.
func TestStoryIsComplete(t *testing.T) {
	o := start(t.Context(), t)
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "made by hashing, not by a model")
	require.Regexp(t, `ingested 30 packages: 1,\d+ passages`, o.Out)
	require.Contains(t, o.Out, "os.ReadFile")
	require.Contains(t, o.Out, "where     package eq 'net/http' and search.in(kind, 'func,method', ',')")
	require.Regexp(t, `right package among the first 5 passages\n  text +\d+ of 20\n  vector +\d+ of 20\n  hybrid +\d+ of 20\n`, o.Out)
	require.Regexp(t, `it gets a declaration +\d+ uploaded, +0 deleted, +\d+ in the index`, o.Out)
	require.Regexp(t, `it loses it again +\d+ uploaded, +1 deleted, +\d+ in the index`, o.Out)
	require.Regexp(t, `it is deleted +0 uploaded, +\d+ deleted, +0 in the index`, o.Out)
	require.Regexp(t, `it comes back +\d+ uploaded, +0 deleted`, o.Out)
}

func TestStoryIsTheSameEveryTime(t *testing.T) {
	root := stagetest.Files(t, library)
	after := func(o stagetest.Outcome) string {
		_, rest, _ := strings.Cut(o.Out, "\nquestion")
		return rest
	}
	first := start(t.Context(), t, "-root", root, "-packages", "lib,lib/sub")
	require.Equal(t, 0, first.Code, first.Err)
	require.Equal(t, after(first), after(start(t.Context(), t, "-root", root, "-packages", "lib,lib/sub")))
}

// Too few hits are an error: here another package contains the words of every question.
func TestFindingTooLittleIsExitCode1(t *testing.T) {
	var others strings.Builder
	others.WriteString("package other\n")
	for i, e := range exams {
		name := string(rune('A' + i))
		for n := range among {
			others.WriteString("\n// " + name + strings.Repeat("x", n) + ": " + e.question + "\nvar " + name + strings.Repeat("x", n) + " int\n")
		}
	}
	root := stagetest.Files(t, map[string]string{
		"os/os.go":       "// Package os is empty.\npackage os\n",
		"other/other.go": others.String(),
	})
	o := start(t.Context(), t, "-root", root, "-packages", "os,other")
	require.Equal(t, stage.ExitProblem, o.Code, o.Out)
	require.Contains(t, o.Err, "hybrid search found the right package for 0 of 3 questions; 2 should be possible")
}

func TestQuestionGetsPassages(t *testing.T) {
	root := stagetest.Files(t, library)
	o := start(t.Context(), t, "-root", root, "-packages", "lib,lib/sub", "-q", "how do I lend a book?")
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "lib/book.go  lib.Book.Lend\n      method lib.Book.Lend\n      func (b *Book) Lend(to string) error\n      \n      Lend gives it away.\n")
	require.NotContains(t, o.Out, "known answers")
}

func TestServiceKeepsWhatWasIngested(t *testing.T) {
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	flags := []string{"-root", stagetest.Files(t, library), "-packages", "lib,lib/sub", "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", "passages"}
	o := start(t.Context(), t, flags...)
	require.Equal(t, 0, o.Code, o.Err)
	first := srv.Documents("passages")
	require.Len(t, first, 9)
	o = start(t.Context(), t, flags...)
	require.Equal(t, 0, o.Code, o.Err)
	require.Equal(t, first, srv.Documents("passages"), "a repeated ingest replaces the first one")
}

func TestWrongKeyIsOneLineAndExitCode1(t *testing.T) {
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	o := start(t.Context(), t, "-endpoint", srv.URL(), "-api-key", "wrong")
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Equal(t, 1, strings.Count(o.Err, "\n"), o.Err)
	require.Contains(t, o.Err, "admin key")
	require.NotContains(t, o.Err, "wrong")
}

// Documentation from elsewhere must not control the terminal.
func TestNoTextCommandsTheTerminal(t *testing.T) {
	root := stagetest.Files(t, map[string]string{"lib/lib.go": "// Package lib is \x1b]0;owned\a\u202eevil.\npackage lib\n"})
	o := start(t.Context(), t, "-root", root, "-packages", "lib", "-q", "evil")
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "Package lib is ]0;ownedevil.\n")
	require.Equal(t, stage.Text(o.Out), o.Out)

	o = start(t.Context(), t, "-root", root, "-packages", "\x1b[2J")
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Contains(t, o.Err, "[2J")
	require.Equal(t, stage.Text(o.Err), o.Err)
}

func TestInterruptedIsExitCode130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, stage.ExitInterrupted, start(ctx, t).Code)
}

func TestMissingPackageIsExitCode1(t *testing.T) {
	o := start(t.Context(), t, "-root", stagetest.Files(t, library), "-packages", "lib,nowhere")
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Contains(t, o.Err, "nowhere")
}

func TestIndexThatIsThereStaysAsItIs(t *testing.T) {
	root := stagetest.Files(t, library)
	stagetest.LeavesIndexAlone(t, func(flags ...string) {
		o := start(t.Context(), t, append(flags, "-root", root, "-packages", "lib,lib/sub")...)
		require.Zero(t, o.Code, o.Err)
	})
}
