package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// outcome is the result of a run.
type outcome struct {
	stagetest.Outcome
	report report // from the last line, with -json
}

func start(ctx context.Context, t *testing.T, args ...string) outcome {
	t.Helper()
	o := outcome{Outcome: stagetest.Run(ctx, t, program, args...)}
	lines := strings.Split(strings.TrimSpace(o.Out), "\n")
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "{") {
		require.NoError(t, json.Unmarshal([]byte(last), &o.report))
	}
	return o
}

// listen returns an emulator and the flags for it.
func listen(t *testing.T) (*searchtest.Server, []string) {
	t.Helper()
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	return srv, []string{"-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", "decls", "-json"}
}

// small returns a tree with one of each special case.
func small(t *testing.T) string {
	return stagetest.Files(t, map[string]string{
		"go.mod":       "module example.com/small\n\ngo 1.26\n",
		"root.go":      "// Package small is small.\npackage small\n\n// Answer is <b>the</b> answer & more.\nconst Answer = 42\n",
		"net/list.go":  "package net\n\n// List is a list.\ntype List[T any] struct {\n\titems []T\n}\n\n// Push adds.\nfunc (l *List[T]) Push(\n\titem T,\n) {\n\tl.items = append(l.items, item)\n}\n\nfunc init() {}\n\nfunc init() {}\n",
		"net/linux.go": "//go:build linux\n\npackage net\n\nconst (\n\tEPERM = 1 // not permitted\n\ta, b  = 2, 3\n)\n",
		"net/other.go": "//go:build !linux\n\npackage net\n\nconst EPERM = 100\n\nvar _ error\n",

		"net/list_test.go":      "package net_test\n\nfunc TestPush() {}\n",
		"net/broken.go":         "package net\n\nfunc {",
		"net/testdata/no.go":    "package no\n\nvar No int\n",
		"_hidden/no.go":         "package no\n\nvar No int\n",
		".hidden/no.go":         "package no\n\nvar No int\n",
		"only/comments/none.go": "// Package none has nothing.\npackage none\n",
	})
}

var smallKeys = []string{
	".#Answer",
	"net#List",
	"net#List.Push",
	"net/list.go#init",
	"net/list.go#init~2",
	"net/linux.go#EPERM",
	"net#a",
	"net#b",
	"net/other.go#EPERM",
	"net#_",
	"net#TestPush",
}

func TestEveryDeclarationOfATreeIsInTheIndex(t *testing.T) {
	srv, flags := listen(t)
	o := start(t.Context(), t, append(flags, "-root", small(t))...)
	require.Equal(t, 0, o.Code, o.Out+o.Err)

	inIndex := map[string]Document{}
	for key, doc := range srv.Documents("decls") {
		text, err := keys.Decode(key)
		require.NoError(t, err)
		var d Document
		require.NoError(t, json.Unmarshal(doc, &d))
		inIndex[text] = d
	}
	var got []string
	for text := range inIndex {
		got = append(got, text)
	}
	require.ElementsMatch(t, smallKeys, got)

	require.Equal(t, Document{
		Key: keys.Encode("net#List.Push"), Package: "net", Kind: "method", Name: "List.Push",
		Signature: "func (l *List[T]) Push( item T, )", Doc: "Push adds.\n", File: "net/list.go", Line: 9, Lines: 5, Exported: true,
	}, inIndex["net#List.Push"])
	require.Equal(t, "Answer is <b>the</b> answer & more.\n", inIndex[".#Answer"].Doc)
	require.Equal(t, "type List[T any] struct", inIndex["net#List"].Signature)
	require.Equal(t, "not permitted\n", inIndex["net/linux.go#EPERM"].Doc)
	require.Equal(t, "const a, b = 2, 3", inIndex["net#b"].Signature)
	require.True(t, inIndex["net#TestPush"].Test)

	r := o.report
	require.True(t, r.OK)
	require.EqualValues(t, len(smallKeys), r.Documents)
	require.EqualValues(t, len(smallKeys), r.Completed)
	require.EqualValues(t, len(smallKeys), r.Count)
	require.Equal(t, 3, r.LookedUp)
	require.Equal(t, 1, r.BrokenFiles)
	require.Equal(t, 7, r.Files)
	require.EqualValues(t, 1, r.Requests)
	require.Positive(t, r.Bytes)
	require.Positive(t, r.PeakMemory)
	require.Positive(t, r.DocumentsPerSecond)
	require.Contains(t, o.Out, "11 accepted = 11 completed + 0 failed + 0 unsent")
	require.Contains(t, o.Out, "net/broken.go:3:6")
}

func TestSecondRunChangesNothing(t *testing.T) {
	srv, flags := listen(t)
	root := small(t)
	require.Equal(t, 0, start(t.Context(), t, append(flags, "-root", root)...).Code)
	first := srv.Documents("decls")
	require.Equal(t, 0, start(t.Context(), t, append(flags, "-root", root)...).Code)
	require.Equal(t, first, srv.Documents("decls"))
}

func TestEmulatorNeedsNoConfiguration(t *testing.T) {
	o := start(t.Context(), t, "-root", small(t))
	require.Equal(t, 0, o.Code, o.Out+o.Err)
	require.NotContains(t, o.Out, `{"`, "no JSON unless asked for")
	require.Contains(t, o.Err, "of the emulator inside this process")
}

// big returns a tree with n constants, each about as large as a document of the standard library.
func big(t *testing.T, n int) string {
	var src strings.Builder
	src.WriteString("package big\n\n")
	for i := range n {
		fmt.Fprintf(&src, "// C%d is one of many constants that exist to make requests of a size.\nconst C%d = %d\n", i, i, i)
	}
	return stagetest.Files(t, map[string]string{"big.go": src.String()})
}

func TestFaultsAreSurvivedAndNamed(t *testing.T) {
	const n = 25_000
	o := start(t.Context(), t, "-faults", "-json", "-root", big(t, n))
	require.Equal(t, 0, o.Code, o.Out+o.Err)
	r := o.report
	require.EqualValues(t, n, r.Completed)
	require.EqualValues(t, n, r.Count)
	require.Zero(t, r.Failed)
	for _, kind := range []string{"requests with status 413", "requests with status 503", "requests with status 429", "requests without a reply", "documents refused in a reply to others"} {
		require.Positive(t, r.Survived[kind], "%s: %v", kind, r.Survived)
		require.Contains(t, o.Out, kind)
	}
	require.Positive(t, r.Splits)
	require.Greater(t, r.Retries, int64(r.Survived["documents refused in a reply to others"]))
}

// answering changes the replies to some requests.
func answering(srv *searchtest.Server, about func(*http.Request) bool, change func(body string) string) {
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		resp, err := next(r)
		if err != nil || !about(r) {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		changed := change(string(body))
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
		resp.Header.Del("Content-Length")
		return resp, nil
	})
}

func TestDifferentDocumentIsExitCode1(t *testing.T) {
	srv, flags := listen(t)
	answering(srv, func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "docs('")
	},
		func(body string) string { return strings.Replace(body, `"line":`, `"line":7`, 1) })
	o := start(t.Context(), t, append(flags, "-root", small(t))...)
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Len(t, o.report.Problems, 3)
	require.Contains(t, o.Out, "differs: the source says")
}

func TestDocumentsOfAnotherProgramAreExitCode1(t *testing.T) {
	srv, _ := listen(t)
	definition, err := declarations.Index("decls")
	require.NoError(t, err)
	require.NoError(t, srv.CreateIndex(definition))
	answering(srv, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "$count") },
		func(string) string { return "\ufeff12" })
	client, err := search.NewClientWithKey(srv.URL(), "decls", azcore.NewKeyCredential(searchtest.AdminKey), nil)
	require.NoError(t, err)
	r := &report{Completed: 11}
	r.verify(t.Context(), client, 12, 0, nil)
	require.Len(t, r.Problems, 2)
	require.Contains(t, r.Problems[0], "the service counts 12 documents, 11 were completed")
	require.Contains(t, r.Problems[1], "held 12 documents before")
}

func TestFailedDocumentsAreExitCode1(t *testing.T) {
	srv, flags := listen(t)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Keys: []string{keys.Encode(smallKeys[0])}, Status: 400, Message: "no"}},
	}}})
	o := start(t.Context(), t, append(flags, "-root", small(t))...)
	require.Equal(t, stage.ExitProblem, o.Code)
	require.EqualValues(t, 1, o.report.Failed)
	require.EqualValues(t, len(smallKeys)-1, o.report.Count)
	require.Equal(t, map[string]int{"documents refused in a reply to others": 1}, o.report.Survived)
	require.Contains(t, o.Out, "11 accepted = 10 completed + 1 failed")
}

func TestRefusedDocumentsDoNotStopTheOthers(t *testing.T) {
	service := stage.Emulate(nil)
	defer service.Close()
	client, err := stage.Open[Document](t.Context(), service, "decls")
	require.NoError(t, err)
	sender, err := newSender(client, config{}, &outcomes{})
	require.NoError(t, err)
	accepted, refused, err := addAll(t.Context(), sender, []Document{
		{Key: "a"}, {Key: "not/legal"}, {Key: "b"}, {Key: "c", Doc: strings.Repeat("large", 4_000_000)}, {Key: ""}, {Key: "d"},
	})
	require.NoError(t, err)
	require.Equal(t, 3, accepted)
	require.Len(t, refused, 3)
	require.NoError(t, sender.Close(t.Context()))
	require.EqualValues(t, 3, service.Emulator.DocumentCount("decls"))

	// An error that concerns all documents is not retried with the next one.
	accepted, refused, err = addAll(t.Context(), sender, []Document{{Key: "e"}, {Key: "f"}})
	require.ErrorIs(t, err, bufferedsender.ErrClosed)
	require.Zero(t, accepted)
	require.Empty(t, refused)
}

func TestWrongKeyIsOneLineAndExitCode1(t *testing.T) {
	srv, _ := listen(t)
	o := start(t.Context(), t, "-endpoint", srv.URL(), "-api-key", "wrong", "-root", small(t))
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Equal(t, 1, strings.Count(o.Err, "\n"))
	require.Contains(t, o.Err, "admin key")
	require.NotContains(t, o.Err, "wrong")
	require.Empty(t, o.Out)
}

func TestCtrlCSaysWhatWasNotSent(t *testing.T) {
	srv, flags := listen(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	// The first batch succeeds. Ctrl-C comes while the second hangs.
	batches := 0
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "search.index") {
			return next(r)
		}
		if batches++; batches == 1 {
			return next(r)
		}
		// net/http detects a closed connection only after the body is read.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		interrupt()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	defer func(before time.Duration) { closeTimeout = before }(closeTimeout)
	closeTimeout = 100 * time.Millisecond
	o := start(ctx, t, append(flags, "-root", big(t, 50_000))...)
	require.Equal(t, stage.ExitInterrupted, o.Code, o.Out+o.Err)
	r := o.report
	require.False(t, r.OK)
	require.EqualValues(t, 1000, r.Completed)
	require.Positive(t, r.Unknown, "the batches that hung")
	require.Equal(t, r.Documents, r.Completed+r.Failed+r.Unsent)
	require.Less(t, r.Documents, int64(50_000), "the buffer does not hold all of them")
	require.EqualValues(t, -1, r.Count)
}

func TestTreeWithoutSourceIsOneLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for root, says := range map[string]string{
		filepath.Join(file, "no"): "no",
		file:                      "is not a folder",
		t.TempDir():               "no Go source",
		"":                        "name a folder with -root",
	} {
		o := start(t.Context(), t, "-root", root)
		require.Equal(t, stage.ExitProblem, o.Code)
		require.Contains(t, o.Err, says)
		require.Equal(t, 1, strings.Count(o.Err, "\n"))
	}
}

func TestFaultsAreForTheEmulator(t *testing.T) {
	stagetest.Refuses(t, program, "-faults is for the emulator", "-faults", "-endpoint", "https://x.search.windows.net")
	t.Setenv("AZURE_SEARCH_ENDPOINT", "https://x.search.windows.net")
	o := start(t.Context(), t, "-faults", "-root", small(t))
	require.Zero(t, o.Code, "the environment gives way to -faults: %s", o.Err)
}

func TestCountIsAwaited(t *testing.T) {
	srv := searchtest.NewServer(&searchtest.Options{VisibilityLag: 200 * time.Millisecond})
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	o := start(t.Context(), t, "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-root", small(t))
	require.Equal(t, 0, o.Code, o.Out)
}

func TestAnythingUnaccountedForIsAProblem(t *testing.T) {
	good := bufferedsender.Stats{Accepted: 10, Completed: 7, Failed: 2, Unsent: 1}
	reported := func() *outcomes { return &outcomes{completed: 7, failed: 2, unsent: 1} }
	for name, c := range map[string]struct {
		stats    bufferedsender.Stats
		reported *outcomes
		accepted int64
		problems int
	}{
		"all is well":                 {good, reported(), 10, 0},
		"the sender lost one":         {bufferedsender.Stats{Accepted: 11, Completed: 7, Failed: 2, Unsent: 1}, reported(), 11, 1},
		"a caller knows of more":      {good, reported(), 11, 1},
		"an event was not reported":   {good, &outcomes{completed: 6, failed: 2, unsent: 1}, 10, 1},
		"an event was reported twice": {good, &outcomes{completed: 7, failed: 3, unsent: 1}, 10, 1},
		"unsent was called a failure": {good, &outcomes{completed: 7, failed: 3}, 10, 1},
		"a handler panicked":          {bufferedsender.Stats{Accepted: 10, Completed: 7, Failed: 2, Unsent: 1, CallbackPanics: 1}, reported(), 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var r report
			r.account(&loader{outcomes: *c.reported, accepted: c.accepted}, c.stats)
			require.Len(t, r.Problems, c.problems, "%v", r.Problems)
		})
	}
}

func TestProblemsOfTheLoaderReachTheReport(t *testing.T) {
	var r report
	r.account(&loader{err: errors.New("it broke")}, bufferedsender.Stats{})
	require.Equal(t, []string{"it broke"}, r.Problems)
}

func TestIndexThatIsThereStaysAsItIs(t *testing.T) {
	root := small(t)
	stagetest.LeavesIndexAlone(t, func(flags ...string) {
		o := start(t.Context(), t, append(flags, "-root", root)...)
		require.Zero(t, o.Code, o.Err+o.Out)
	})
}
