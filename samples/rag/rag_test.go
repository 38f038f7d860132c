package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/plain"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// outcome is what a run left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func start(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, func(string) string { return "" }, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// written returns a root with the given files.
func written(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
	return root
}

// The story as CI runs it, over the library that Go was installed with.
func TestStoryIsComplete(t *testing.T) {
	o := start(t.Context())
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "made by hashing, not by a model")
	require.Regexp(t, `ingested 30 packages: [12],\d+ passages`, o.stdout)
	require.Contains(t, o.stdout, "os.ReadFile")
	require.Contains(t, o.stdout, "where     package eq 'net/http' and search.in(kind, 'func,method', ',')")
	require.Regexp(t, `of 20 questions with known answers, found among the first 5 passages\n.*\n  text +\d+ +\d+\n  vector +\d+ +\d+\n  hybrid +\d+ +\d+\n.*\n  this run would fail if hybrid search found fewer than 14 packages`, o.stdout)
	require.Regexp(t, `it gets a declaration +(\d+) uploaded, +0 deleted, +\d+ in the index, 1 with`, o.stdout)
	require.Regexp(t, `it loses it again +\d+ uploaded, +1 deleted, +\d+ in the index, 0 with`, o.stdout)
	require.Regexp(t, `it is deleted +0 uploaded, +\d+ deleted, +0 in the index`, o.stdout)
	require.Regexp(t, `it comes back +\d+ uploaded, +0 deleted`, o.stdout)
}

func TestStoryIsTheSameEveryTime(t *testing.T) {
	root := written(t, library)
	after := func(o outcome) string {
		_, rest, _ := strings.Cut(o.stdout, "\nquestion")
		return rest
	}
	first := start(t.Context(), "-root", root, "-packages", "lib/sub, lib,lib")
	require.Equal(t, 0, first.code, first.stderr)
	require.NotContains(t, first.stdout, "known answers", "no question is about these packages")
	require.Equal(t, after(first), after(start(t.Context(), "-root", root, "-packages", "lib,lib/sub")))
}

// A search that finds too little is a failure: here another package has all that
// the questions ask for.
func TestFindingTooLittleIsExitCode1(t *testing.T) {
	var others strings.Builder
	others.WriteString("package other\n")
	for i, e := range exams {
		name := string(rune('A' + i))
		for n := range among {
			others.WriteString("\n// " + name + strings.Repeat("x", n) + ": " + e.question + "\nvar " + name + strings.Repeat("x", n) + " int\n")
		}
	}
	root := written(t, map[string]string{
		"os/os.go":       "// Package os is empty.\npackage os\n",
		"other/other.go": others.String(),
	})
	o := start(t.Context(), "-root", root, "-packages", "os,other")
	require.Equal(t, exitProblem, o.code, o.stdout)
	require.Contains(t, o.stderr, "hybrid search found the right package for 0 of 3 questions; 2 should be possible")
}

func TestQuestionGetsPassages(t *testing.T) {
	root := written(t, library)
	flags := []string{"-root", root, "-packages", "lib,lib/sub", "-q", "how do I lend a book?"}
	o := start(t.Context(), flags...)
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "lib/book.go  lib.Book.Lend\n      method lib.Book.Lend\n      func (b *Book) Lend(to string) error\n      \n      Lend gives it away.\n")
	require.NotContains(t, o.stdout, "known answers")

	o = start(t.Context(), append(flags, "-package", "lib/sub", "-kind", "func")...)
	require.Contains(t, o.stdout, "where     package eq 'lib/sub' and kind eq 'func'\n[1] ")
	require.NotContains(t, o.stdout, "[2] ")
	o = start(t.Context(), append(flags, "-package", "elsewhere")...)
	require.Contains(t, o.stdout, "no passage\n")
	o = start(t.Context(), append(flags, "-top", "1")...)
	require.NotContains(t, o.stdout, "[2] ")
}

func TestServiceKeepsWhatWasIngested(t *testing.T) {
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	flags := []string{"-root", written(t, library), "-packages", "lib,lib/sub", "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", "passages"}
	o := start(t.Context(), flags...)
	require.Equal(t, 0, o.code, o.stderr)
	first := srv.Documents("passages")
	require.Len(t, first, 10)
	o = start(t.Context(), flags...)
	require.Equal(t, 0, o.code, o.stderr)
	require.Equal(t, first, srv.Documents("passages"), "what is ingested again replaces itself")

	o = start(t.Context(), append(flags, "-ingest=false", "-q", "lending", "-root", t.TempDir())...)
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "Lending is free.")
}

func TestWrongKeyIsOneLineAndExitCode1(t *testing.T) {
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	o := start(t.Context(), "-endpoint", srv.URL(), "-api-key", "wrong")
	require.Equal(t, exitProblem, o.code)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	require.Contains(t, o.stderr, "admin key")
	require.NotContains(t, o.stderr, "wrong")
}

// Whoever writes documentation does not command the terminal of those who read it.
func TestNoTextCommandsTheTerminal(t *testing.T) {
	root := written(t, map[string]string{"lib/lib.go": "// Package lib is \x1b]0;owned\a\u202eevil.\npackage lib\n"})
	o := start(t.Context(), "-root", root, "-packages", "lib", "-q", "evil")
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "Package lib is ]0;ownedevil.\n")
	require.Equal(t, plain.Text(o.stdout), o.stdout)

	o = start(t.Context(), "-root", root, "-packages", "\x1b[2J")
	require.Equal(t, exitProblem, o.code)
	require.Contains(t, o.stderr, "[2J")
	require.Equal(t, plain.Text(o.stderr), o.stderr)
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullDiskIsExitCode1(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"-root", written(t, library), "-packages", "lib"}, func(string) string { return "" }, full{}, &stderr)
	require.Equal(t, exitProblem, code)
	require.Contains(t, stderr.String(), "no space left on device")
}

func TestInterruptedIsExitCode130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, start(ctx).code)
}

func TestMissingPackageIsExitCode1(t *testing.T) {
	o := start(t.Context(), "-root", written(t, library), "-packages", "lib,nowhere")
	require.Equal(t, exitProblem, o.code)
	require.Contains(t, o.stderr, "nowhere")
}

func TestCommandLineErrorsAreOneLineAndExitCode2(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"unknown flag":             {[]string{"-nosuch"}, "-nosuch"},
		"argument":                 {[]string{"why?"}, `unknown argument "why?"`},
		"no passages":              {[]string{"-q", "why", "-top", "0"}, "-top 0"},
		"too many passages":        {[]string{"-q", "why", "-top", "1001"}, "-top 1001: the service gives 1 to 1000"},
		"filter without question":  {[]string{"-kind", "func"}, "-package and -kind are for -q"},
		"asking an empty emulator": {[]string{"-q", "why", "-ingest=false"}, "-ingest=false is for -q and -endpoint"},
		"key without a service":    {[]string{"-api-key", "secret"}, "-api-key is for -endpoint"},
		"no packages":              {[]string{"-packages", " ,"}, "-packages names none"},
		"several at once":          {[]string{"-top", "0", "-root", ""}, "-root; -top 0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := start(t.Context(), c.args...)
			require.Equal(t, exitUsage, o.code, o.stderr)
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
			require.Contains(t, o.stderr, c.says)
			require.NotContains(t, o.stderr, "secret")
			require.Empty(t, o.stdout)
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	o := start(t.Context(), "-help")
	require.Equal(t, 0, o.code)
	require.Contains(t, o.stdout, "-packages FOLDERS")
	require.Empty(t, o.stderr)
}

func TestEnvironmentNamesTheService(t *testing.T) {
	c, err := parseFlags(nil, func(name string) string {
		return map[string]string{"AZURE_SEARCH_ENDPOINT": "https://x.search.windows.net", "AZURE_SEARCH_API_KEY": "k"}[name]
	}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "https://x.search.windows.net", c.endpoint)
	require.Equal(t, "k", c.apiKey)
	c.apiKey = "" // Entra ID, of which nothing is asked yet
	svc, err := connect(c)
	require.NoError(t, err)
	require.Nil(t, svc.emulator)
	require.Equal(t, "https://x.search.windows.net", svc.indexes.Endpoint())
}
