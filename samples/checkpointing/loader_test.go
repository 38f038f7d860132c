package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestCheckpointComesBackAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	at, err := readCheckpoint(path)
	require.NoError(t, err, "no file is the beginning")
	require.Zero(t, at)
	for _, want := range []checkpoint{{17, "https://a/b", "0x1", "c"}, {Offset: 4000}} {
		require.NoError(t, writeCheckpoint(path, want))
		at, err = readCheckpoint(path)
		require.NoError(t, err)
		require.Equal(t, want, at)
	}
	// A crash can leave a partial temporary file, which must be ignored.
	require.NoError(t, os.WriteFile(path+".tmp", []byte(`{"of`), 0o644))
	at, err = readCheckpoint(path)
	require.NoError(t, err)
	require.Equal(t, checkpoint{Offset: 4000}, at)
	require.NoError(t, writeCheckpoint(path, checkpoint{Offset: 4001}))
}

func FuzzReadCheckpoint(f *testing.F) {
	f.Add(`{"offset":5}`)
	f.Add(`{"offset":-1}`)
	f.Add(`{"offset":1e3}`)
	f.Add("")
	path := filepath.Join(f.TempDir(), "c")
	f.Fuzz(func(t *testing.T, content string) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		at, err := readCheckpoint(path)
		if err != nil {
			require.Zero(t, at)
			return
		}
		require.GreaterOrEqual(t, at.Offset, int64(0))
	})
}

func TestLinesBehindACheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(path, []byte("one\r\n\nthree"), 0o644))
	read := func(at int64) (lines []line, err error) {
		for l, e := range linesFrom(path, at) {
			if e != nil {
				return lines, e
			}
			lines = append(lines, l)
		}
		return lines, nil
	}
	all := []line{{0, 5, "one"}, {5, 6, ""}, {6, 11, "three"}}
	for i, at := range []int64{0, 5, 6, 11} {
		lines, err := read(at)
		require.NoError(t, err)
		require.Equal(t, len(all)-i, len(lines))
		require.Equal(t, all[i:], append([]line{}, lines...))
	}
	for _, foreign := range []int64{3, 1000} {
		_, err := read(foreign)
		require.ErrorContains(t, err, "does not belong to")
	}
}

// open creates the index and returns a client.
func open(t *testing.T, srv *searchtest.Server) *search.Client {
	t.Helper()
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), stage.Inside(srv))
	require.NoError(t, err)
	client, err := stage.Open[Entry](t.Context(), &stage.Service{Indexes: indexes}, demoIndex)
	require.NoError(t, err)
	return client
}

// load runs a loader on the given number of lines.
func load(t *testing.T, srv *searchtest.Server, lines int) (*loader, error) {
	t.Helper()
	return loadUntil(t.Context(), t, srv, lines, 10*time.Second)
}

func loadUntil(ctx context.Context, t *testing.T, srv *searchtest.Server, lines int, closeTimeout time.Duration) (*loader, error) {
	t.Helper()
	client := open(t, srv)
	input := filepath.Join(t.TempDir(), "in")
	require.NoError(t, writeInput(input, lines))
	l := &loader{input: input, checkpointFile: input + ".checkpoint", refusedFile: input + ".refused", saveEvery: time.Hour, closeTimeout: closeTimeout}
	return l, l.load(ctx, client, io.Discard)
}

// lineEnd returns the end of line n of the input, for n below 10.
func lineEnd(n int64) int64 { return n * int64(len("This is line 1.\n")) }

// failing returns an emulator that rejects the third line, which starts at byte 32.
func failing(status int) *searchtest.Server {
	srv := searchtest.NewServer(nil)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Keys: []string{"byte-32"}, Status: status}},
	}}})
	return srv
}

func TestMarkStaysBelowWhatAnInterruptedRunDidNotSend(t *testing.T) {
	srv := searchtest.NewServer(nil)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var batches atomic.Int64
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "search.index") || batches.Add(1) <= 2 {
			return next(r)
		}
		interrupt()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	l, err := loadUntil(ctx, t, srv, 5000, 50*time.Millisecond)
	var lost *bufferedsender.CloseError
	require.ErrorAs(t, err, &lost)
	require.Positive(t, lost.Unsent+lost.Unknown)
	at, readErr := readCheckpoint(l.checkpointFile)
	require.NoError(t, readErr)
	missing, lines, readErr := missingLines(srv, l.input, at.Offset)
	require.NoError(t, readErr)
	require.LessOrEqual(t, lines, 400, "two batches were answered")
	require.Empty(t, missing)
	require.NoFileExists(t, l.refusedFile)
}

// rejecting returns an emulator that refuses every request with the third line as a whole.
func rejecting(status int, message string) *searchtest.Server {
	srv := searchtest.NewServer(nil)
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "search.index") {
			return next(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if r.Body = io.NopCloser(bytes.NewReader(body)); !bytes.Contains(body, []byte(`"byte-32"`)) {
			return next(r)
		}
		answer := fmt.Sprintf(`{"error":{"code":"","message":%q}}`, message)
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)),
		}, nil
	})
	return srv
}

func TestRejectedLineIsSetAsideAndPassed(t *testing.T) {
	for name, srv := range map[string]*searchtest.Server{
		"the document alone": failing(http.StatusBadRequest),
		"a value of the wrong type": rejecting(http.StatusBadRequest,
			"The request is invalid. Details: actions : 2: Cannot convert the literal 'x' to the expected type 'Edm.Int64'."),
		"a field that the index lacks": rejecting(http.StatusBadRequest,
			"The request is invalid. Details: The property 'third' does not exist on type 'search.documentFields'."),
		"a document that is too large": rejecting(http.StatusRequestEntityTooLarge, "The request is too large."),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := load(t, srv, 10)
			require.NoError(t, err)
			at, err := readCheckpoint(l.checkpointFile)
			require.NoError(t, err)
			require.EqualValues(t, lineEnd(9)+int64(len("This is line 10.\n")), at.Offset)
			refused, err := os.ReadFile(l.refusedFile)
			require.NoError(t, err)
			require.Contains(t, string(refused), "This is line 3.")
			require.Equal(t, 1, bytes.Count(refused, []byte("\n")))
			require.EqualValues(t, 9, srv.DocumentCount(demoIndex), "the others are in the index")
		})
	}
}

func TestMarkStaysBelowALineWhoseAttemptsAreUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // to skip the back-off
		l, err := load(t, failing(409), 10)
		require.ErrorContains(t, err, "409")
		at, readErr := readCheckpoint(l.checkpointFile)
		require.NoError(t, readErr)
		require.EqualValues(t, lineEnd(2), at.Offset)
		require.NoFileExists(t, l.refusedFile)
	})
}

func TestMarkStaysBelowALineThatMayStillBeAccepted(t *testing.T) {
	srv := failing(429) // a quota, which an operator can raise
	l, err := load(t, srv, 10)
	require.ErrorContains(t, err, "429")
	at, readErr := readCheckpoint(l.checkpointFile)
	require.NoError(t, readErr)
	require.EqualValues(t, lineEnd(2), at.Offset)
	require.NoFileExists(t, l.refusedFile)
}

func TestDeletedIndexStopsTheLoadAndPassesNothing(t *testing.T) {
	srv := searchtest.NewServer(nil)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: 404}}})
	l, err := loadUntil(t.Context(), t, srv, 1000, 50*time.Millisecond) // Close would wait for the index
	require.ErrorContains(t, err, "404")
	at, readErr := readCheckpoint(l.checkpointFile)
	require.NoError(t, readErr)
	require.Zero(t, at.Offset)
	require.NoFileExists(t, l.refusedFile)
}

func TestCheckpointThatCannotBeWrittenIsAnError(t *testing.T) {
	srv := searchtest.NewServer(nil)
	l, err := load(t, srv, 10)
	require.NoError(t, err)
	l = &loader{input: l.input, checkpointFile: filepath.Join(t.TempDir(), "no", "folder"), closeTimeout: time.Second}
	require.ErrorIs(t, l.load(t.Context(), open(t, srv), io.Discard), os.ErrNotExist)
}

func TestCommandLineThatLacksAFileOrAServiceIsRefused(t *testing.T) {
	stagetest.Refuses(t, program, "-endpoint -in", "-endpoint", "https://x", "-api-key", "k")
	stagetest.Refuses(t, program, "-in needs -endpoint", "-in", "x")
}

func TestIndexThatIsThereStaysAsItIs(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in")
	require.NoError(t, writeInput(input, 3))
	stagetest.LeavesIndexAlone(t, func(flags ...string) {
		require.NoError(t, os.RemoveAll(input+".checkpoint")) // a changed definition ends the second run otherwise
		stagetest.Succeeds(t, program, append(flags, "-in", input))
	})
}

// Another file or index would skip lines without an error.
func TestACheckpointIsOfOneFileAndOneIndex(t *testing.T) {
	replace := func(t *testing.T, input, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(input, []byte(text), 0o644))
	}
	for name, c := range map[string]struct {
		change  func(t *testing.T, l *loader, other bufferedsender.Indexer) bufferedsender.Indexer
		refused string
	}{
		"the same again": {func(*testing.T, *loader, bufferedsender.Indexer) bufferedsender.Indexer { return nil }, ""},
		"the file has grown": {func(t *testing.T, l *loader, _ bufferedsender.Indexer) bufferedsender.Indexer {
			old, err := os.ReadFile(l.input)
			require.NoError(t, err)
			replace(t, l.input, string(old)+"one more\n")
			return nil
		}, ""},
		"the file was replaced by a longer one": {func(t *testing.T, l *loader, _ bufferedsender.Indexer) bufferedsender.Indexer {
			replace(t, l.input, strings.Repeat("THIS IS LINE 1.\n", 20))
			return nil
		}, "replaced or changed"},
		"a line in the middle was changed": {func(t *testing.T, l *loader, _ bufferedsender.Indexer) bufferedsender.Indexer {
			old, err := os.ReadFile(l.input)
			require.NoError(t, err)
			replace(t, l.input, strings.Replace(string(old), "line 4500.", "LINE 4500.", 1))
			return nil
		}, "replaced or changed"},
		"the file was cut off": {func(t *testing.T, l *loader, _ bufferedsender.Indexer) bufferedsender.Indexer {
			replace(t, l.input, "This is line 1.\n")
			return nil
		}, "replaced or changed"},
		"another index": {func(_ *testing.T, _ *loader, other bufferedsender.Indexer) bufferedsender.Indexer { return other }, "it is for the index"},
		"a checkpoint that names nothing": {func(t *testing.T, l *loader, _ bufferedsender.Indexer) bufferedsender.Indexer {
			replace(t, l.checkpointFile, `{"offset":32}`)
			return nil
		}, "it is for the index"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			l, err := load(t, srv, 9000) // 170 kB
			require.NoError(t, err)
			indexer := c.change(t, l, open(t, searchtest.NewServer(&searchtest.Options{ServiceName: "other"})))
			if indexer == nil {
				indexer = open(t, srv)
			}
			again := &loader{input: l.input, checkpointFile: l.checkpointFile, refusedFile: l.refusedFile, saveEvery: time.Hour, closeTimeout: 10 * time.Second}
			err = again.load(t.Context(), indexer, io.Discard)
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.refused)
			require.ErrorContains(t, err, "remove the checkpoint")
		})
	}
}

// The load command of a shell's history, after somebody deleted the index.
func TestAnIndexThatWasCreatedAgainIsNotTakenForLoaded(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in")
	require.NoError(t, writeInput(input, 9))
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	run := func() stagetest.Outcome {
		return stagetest.Run(t.Context(), t, program, "-in", input, "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", demoIndex)
	}
	require.Zero(t, run().Code)
	require.Zero(t, run().Code, "nothing is left to do")
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), stage.Inside(srv))
	require.NoError(t, err)
	require.NoError(t, indexes.DeleteIndex(t.Context(), demoIndex, nil))
	again := run()
	require.Equal(t, stage.ExitProblem, again.Code, again.Out)
	require.Contains(t, again.Err, "changed or created again")
	require.Contains(t, again.Err, "remove the checkpoint")
	require.NoError(t, os.Remove(input+".checkpoint"))
	require.Zero(t, run().Code)
	require.EqualValues(t, 9, srv.DocumentCount(demoIndex))
}

// Runs of older versions, and an umask of 022, left files that everybody can read.
func TestAFileOfRefusedLinesIsForItsOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	path := filepath.Join(t.TempDir(), "in.refused")
	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o644))
	require.NoError(t, setAside(path, line{}))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(content, []byte("\n")), "the lines of that run stay")
}
