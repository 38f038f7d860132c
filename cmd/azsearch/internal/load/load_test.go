package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const definition = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
	{"name":"name","type":"Edm.String","filterable":false,"sortable":false,"facetable":false,"searchable":false},{"name":"stars","type":"Edm.Int32"}]}`

// rig is a service, a folder and options for a load.
type rig struct {
	Options
	t      *testing.T
	dir    string
	server *searchtest.Server
}

func newRig(t *testing.T, o convert.Options) *rig {
	t.Helper()
	server := searchtest.NewServer(&searchtest.Options{KeepRequests: -1})
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	client := clienttest.NewClient(t, definition, &clienttest.Options{Server: server})
	var index models.SearchIndex
	require.NoError(t, json.Unmarshal([]byte(definition), &index))
	plan, err := convert.NewPlan(&index, o)
	require.NoError(t, err)
	return &rig{Options{Indexer: client, Plan: plan, InFlight: 2, Patience: time.Hour}, t, t.TempDir(), server}
}

func (r *rig) file(name, content string) string {
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func (r *rig) load(files ...string) (Report, error) { return r.loadUntil(r.t.Context(), files...) }

func (r *rig) loadUntil(ctx context.Context, files ...string) (Report, error) {
	r.t.Helper()
	r.Files = files
	if r.Rejects == nil {
		var err error
		r.Rejects, err = OpenRejects(filepath.Join(r.dir, "rejects.jsonl"), r.Checkpoint)
		require.NoError(r.t, err)
	}
	report, err := Run(ctx, r.Options)
	assert.NoError(r.t, r.Rejects.Close())
	r.Rejects = nil
	assert.Equal(r.t, exit.Code(err), report.Exit)
	return report, err
}

func (r *rig) rejects() (lines []Reject) {
	content, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
	require.NoError(r.t, err)
	for line := range strings.Lines(string(content)) {
		var x Reject
		require.NoError(r.t, json.Unmarshal([]byte(line), &x))
		lines = append(lines, x)
	}
	return lines
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"name\":\"hotel %d\",\"stars\":%d}\n", i, i, i%5)
	}
	return b.String()
}

func TestEveryRecordOfEveryFormatIsInTheIndex(t *testing.T) {
	r := newRig(t, convert.Options{})
	var csv, array strings.Builder
	csv.WriteString("name;stars;id\n")
	for i := range 2000 {
		fmt.Fprintf(&csv, "\"a;\n%d\";%d;csv-%d\r\n", i, i%5, i)
		fmt.Fprintf(&array, ",\n {\"id\": \"array-%d\"}", i)
	}
	report, err := r.load(r.file("a.jsonl", lines(0, 5000)), r.file("b.csv", csv.String()), r.file("c.json", "["+array.String()[1:]+"]"), r.file("empty.csv", ""))
	require.NoError(t, err)
	assert.Equal(t, int64(9000), report.Records)
	assert.Equal(t, int64(9000), report.Completed)
	assert.Equal(t, int64(9000), r.server.DocumentCount("hotels"))
	doc, _ := r.server.Document("hotels", "csv-7")
	assert.JSONEq(t, `{"id":"csv-7","name":"a;\n7","stars":2}`, string(doc))
	assert.NoFileExists(t, filepath.Join(r.dir, "rejects.jsonl"))
}

func TestOfTwoRecordsWithOneKeyTheLaterOneCounts(t *testing.T) {
	r := newRig(t, convert.Options{Key: "id"})
	report, err := r.load(r.file("a.jsonl", strings.Repeat(lines(0, 3), 5000)+`{"id":"1","name":"last"}`+"\n"+`{"id":"2","@search.action":"delete"}`))
	require.NoError(t, err)
	assert.Equal(t, int64(2), r.server.DocumentCount("hotels"))
	doc, _ := r.server.Document("hotels", "1")
	assert.Contains(t, string(doc), `"last"`)
	assert.Equal(t, int64(1), report.Deleted)
	assert.Equal(t, "2", report.LastDeletion)
}

func TestRejectsSayWhereAndWhyAndReplay(t *testing.T) {
	r := newRig(t, convert.Options{})
	jsonl := r.file("a.jsonl", lines(0, 3)+"{\"id\":\"x\",\"stars\":\"many\"}\n{\"id\":\"\xff\"}\n\n{\"id\":\"gone\",\"@search.action\":\"merge\"}\n")
	csv := r.file("b.csv", "id,stars\n10,1\n11,\"open\n12\n13,3\n")
	report, err := r.load(jsonl, csv)
	require.Error(t, err)
	assert.Equal(t, exit.Incomplete, report.Exit)
	assert.Equal(t, map[string]int64{"value": 1, "utf8": 1, "service": 1, "syntax": 1, "columns": 1}, report.Kinds)
	assert.Equal(t, report.Records, report.Completed+report.Rejected)
	rejects := r.rejects()
	byKind := map[string]Reject{}
	for _, x := range rejects {
		byKind[x.Kind] = x
	}
	value := byKind["value"]
	assert.Equal(t, jsonl, value.File)
	assert.Equal(t, int64(4), value.Line)
	assert.Equal(t, int64(len(lines(0, 3))), value.Offset)
	assert.Equal(t, "stars", value.Field)
	assert.Equal(t, `{"id":"x","stars":"many"}`, *value.Original)
	assert.Equal(t, "{\"id\":\"\xff\"}", string(byKind["utf8"].Bytes))
	assert.Equal(t, http.StatusNotFound, byKind["service"].Status)
	assert.Equal(t, "gone", byKind["service"].Key)
	assert.Equal(t, int64(7), byKind["service"].Line)
	assert.Equal(t, int64(3), byKind["syntax"].Line)
	assert.Equal(t, []string{"id", "stars"}, byKind["columns"].Columns)

	// The rejects file is an input: repaired lines are loaded, the others keep their positions.
	content, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
	require.NoError(t, err)
	repaired := strings.NewReplacer(`\"many\"`, "4", `11,\"open`, "11,5", `"12"`, `"12,2"`, `merge`, `upload`).Replace(string(content))
	require.NoError(t, os.Remove(filepath.Join(r.dir, "rejects.jsonl")))
	report, err = r.load(r.file("repaired.jsonl", repaired))
	require.Error(t, err)
	again := r.rejects()
	for _, x := range again {
		assert.Equal(t, r.Files[0], x.Read.File)
		x.Read = nil
		assert.Contains(t, rejects, x)
	}
	for key, stars := range map[string]string{"x": "4", "11": "5", "12": "2"} {
		doc, _ := r.server.Document("hotels", key)
		assert.Contains(t, string(doc), `"stars":`+stars, key)
	}
	assert.Equal(t, int64(len(again)), report.Rejected)
}

func TestFilterMakesAnyNumberOfDocumentsOfARecord(t *testing.T) {
	r := newRig(t, convert.Options{})
	var err error
	r.Filter, err = jqfilter.New(`select(.skip != "yes") | .names | split("+") | to_entries[] | {id: "\($key)-\(.key)", name: .value}`)
	assert.Error(t, err, "an undefined variable")
	r.Filter, err = jqfilter.New(`select(.skip != "yes") | .id as $id | .names | split("+") | to_entries[] | {id: "\($id)-\(.key)", name: .value}`)
	require.NoError(t, err)
	report, err := r.load(r.file("a.jsonl", `{"id":12345678901234567890,"names":"a+b"}`+"\n"+`{"id":2,"skip":"yes"}`+"\n"+`{"id":3,"names":7}`+"\n"+`{"id"`), r.file("b.csv", "id,names,skip\n4,c,\n5,,yes\n"))
	require.Error(t, err)
	assert.Equal(t, int64(3), report.Completed)
	assert.Equal(t, int64(2), report.Filtered)
	assert.Equal(t, map[string]int64{KindFilter: 2}, report.Kinds)
	assert.ElementsMatch(t, []string{"12345678901234567890-0", "12345678901234567890-1", "4-0"}, r.server.DocumentKeys("hotels"))
}

func TestFilterThatMakesTooMuchOfARecordRejectsIt(t *testing.T) {
	r := newRig(t, convert.Options{})
	var err error
	r.Filter, err = jqfilter.New(`if .id == "1" then range(1e9) | {id: "\(.)", name: ("x" * 1000000)} else . end`)
	require.NoError(t, err)
	report, err := r.load(r.file("a.jsonl", lines(0, 3)))
	assert.ErrorContains(t, err, "1 of 3 records")
	assert.Equal(t, map[string]int64{KindTooLarge: 1}, report.Kinds)
	assert.Equal(t, int64(2), r.server.DocumentCount("hotels"))
}

// TestDocumentsUpToTheLimitOfTheServiceAreLoaded: the sender's usual requests are smaller.
func TestDocumentsUpToTheLimitOfTheServiceAreLoaded(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, convert.Options{})
	long := func(id string, n int) string {
		return fmt.Sprintf("{\"id\":%q,\"name\":%q}\n", id, strings.Repeat("x", n))
	}
	report, err := r.load(r.file("a.jsonl", lines(0, 9)+long("five", 5e6)+lines(9, 12)+long("most", 15.9e6)+long("more", 16.1e6)+lines(12, 20)))
	require.ErrorContains(t, err, "1 of 23 records")
	assert.Equal(t, map[string]int64{KindTooLarge: 1}, report.Kinds)
	assert.Contains(t, report.Examples[0], "the limit is 16000000")
	assert.Equal(t, int64(22), r.server.DocumentCount("hotels"))
}

func TestProgressOfAnInterruptedLoadCountsWhatWasRead(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 100_000))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var now func() Progress
	r.Watch = func(_ context.Context, progress func() Progress) { now = progress }
	_, err := r.loadUntil(ctx, file)
	assert.Equal(t, exit.Interrupted, exit.Code(err))
	assert.Positive(t, now().Total)
	assert.Less(t, now().Read, now().Total/2, "no ETA of 0s")
}

func TestHeaderInTheMiddleIsNoDocument(t *testing.T) {
	r := newRig(t, convert.Options{})
	report, err := r.load(r.file("a.csv", "id,name\nh1,a\nid,name\nh2,name\n"))
	assert.ErrorContains(t, err, "1 of 3 records")
	assert.Equal(t, map[string]int64{convert.KindColumns: 1}, report.Kinds)
	assert.ElementsMatch(t, []string{"h1", "h2"}, r.server.DocumentKeys("hotels"))
}

func TestDryRunCountsAndSendsNothing(t *testing.T) {
	r := newRig(t, convert.Options{})
	r.Indexer = nil
	report, err := r.load(r.file("a.jsonl", lines(0, 1500)+"{}\n"))
	require.Error(t, err)
	assert.True(t, report.DryRun)
	assert.Equal(t, int64(1500), report.Completed)
	assert.Equal(t, int64(2), report.Requests)
	assert.Zero(t, r.server.DocumentCount("hotels"))
}

func TestFileThatDisappearsOrIsCutOffIsNoSuccess(t *testing.T) {
	r := newRig(t, convert.Options{})
	report, err := r.load(r.file("a.jsonl", lines(0, 10)), filepath.Join(r.dir, "gone.jsonl"))
	assert.ErrorContains(t, err, "gone.jsonl")
	assert.Equal(t, exit.Incomplete, report.Exit)
	assert.Equal(t, int64(10), r.server.DocumentCount("hotels"), "records read before are sent")
	_, err = r.load(r.file("a.json", `[{"id":"11"},`))
	assert.ErrorContains(t, err, "the array does not end")
	_, err = r.load(r.file("a.csv", "id,town\n1,2\n"))
	assert.Equal(t, exit.Usage, exit.Code(err))
	assert.ErrorContains(t, err, "-map town=FIELD")
}

func TestRejectThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	r := newRig(t, convert.Options{})
	r.Rejects = &Rejects{path: "/dev/full"}
	r.Files = []string{r.file("a.jsonl", lines(0, 10)+"{}\n")}
	_, err := Run(t.Context(), r.Options)
	assert.ErrorContains(t, err, "no space left")
	assert.Equal(t, exit.Incomplete, exit.Code(err))
}

func TestServiceThatIsGoneEndsTheRunAfterPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, convert.Options{})
		r.Patience = time.Minute
		r.server.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: "indexDocuments", Status: http.StatusServiceUnavailable}}})
		report, err := r.load(r.file("a.jsonl", lines(0, 10)))
		assert.Equal(t, exit.Service, exit.Code(err))
		assert.ErrorContains(t, err, "gave up after 1m0s")
		assert.Equal(t, int64(10), report.Unsent)
		assert.Zero(t, report.Rejected, "nothing is wrong with the records")
	})
}

func TestServiceThatAsksToWaitForTooLongEndsTheRunAfterPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, convert.Options{})
		r.Patience = time.Minute
		r.server.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: "indexDocuments", Status: http.StatusTooManyRequests, RetryAfter: searchtest.Duration(time.Hour)}}})
		said := ""
		r.Watch = func(ctx context.Context, now func() Progress) {
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Second):
				said = now().String()
			}
		}
		_, err := r.load(r.file("a.jsonl", lines(0, 10)))
		assert.Equal(t, exit.Service, exit.Code(err))
		assert.ErrorContains(t, err, "gave up after 1m0s")
		assert.Contains(t, said, "waiting: ")
		assert.Contains(t, said, "429")
	})
}

// An interrupted filter says nothing about its record, and a checkpoint past the record would skip it for good.
func TestInterruptedFilterRejectsNothing(t *testing.T) {
	r := &run{Options: newRig(t, convert.Options{}).Options}
	r.ctx, r.stop = context.WithCancelCause(t.Context())
	var err error
	r.Filter, err = jqfilter.New("def forever: forever; forever")
	require.NoError(t, err)
	text := `{"id":"1"}`
	j := newJob(&source.Block{File: &source.File{Name: "a.jsonl", Kind: source.JSONLines}, Data: []byte(text), Ends: []int{len(text)}})
	r.stop(errInterrupted)
	newWorker(r).convert(j)
	assert.ErrorIs(t, j.failed, errInterrupted)
	assert.Empty(t, j.rejects)
}

// All documents are in the index, so the exit code is 0.
func TestInterruptionBehindTheLastRecordIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, convert.Options{})
		ctx, interrupt := context.WithCancel(t.Context())
		r.server.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second) // all records are read
			interrupt()
			synctest.Wait()
			return next(req)
		})
		report, err := r.loadUntil(ctx, r.file("a.jsonl", lines(0, 10)))
		assert.NoError(t, err)
		assert.Equal(t, int64(10), report.Completed)
	})
}

func TestInterruptionEndsHonestlyAndResumeGoesOn(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 20_000)+"{}\n"+lines(20_000, 120_000))
	to := Destination{Endpoint: "e", Index: "hotels", ETag: "1"}
	open := func() (err error) {
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", to)
		return err
	}
	require.NoError(t, open())
	ctx, interrupt := context.WithCancel(t.Context())
	r.server.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if r.server.DocumentCount("hotels") >= 10_000 {
			interrupt()
		}
		return next(req)
	})
	report, err := r.loadUntil(ctx, file)
	require.Error(t, err)
	assert.Equal(t, exit.Interrupted, report.Exit)
	assert.Equal(t, r.server.DocumentCount("hotels"), report.Completed, "reported documents are in the index")
	assert.Less(t, report.Completed, int64(120_000))

	require.NoError(t, open())
	assert.Positive(t, r.Checkpoint.state.Next.Offset)
	report, err = r.load(file)
	assert.Equal(t, exit.Incomplete, exit.Code(err), "%v", err)
	assert.Equal(t, int64(120_000), r.server.DocumentCount("hotels"))
	assert.Equal(t, int64(1), report.Rejected)
	assert.Len(t, r.rejects(), 1)

	// A complete run has nothing left to do, but its rejects are not in the index.
	require.NoError(t, open())
	assert.True(t, r.Checkpoint.Done())
	report, err = r.load(file)
	assert.Zero(t, report.Completed)
	assert.Equal(t, exit.Incomplete, exit.Code(err))

	// A checkpoint of another source, destination or conversion is refused.
	for _, other := range []Destination{{Endpoint: "f", Index: "hotels", ETag: "1"}, {Endpoint: "e", Index: "h2", ETag: "1"}, {Endpoint: "e", Index: "hotels"}, {Endpoint: "e", Index: "hotels", ETag: "2"},
		{Endpoint: "e", Index: "hotels", ETag: "1", Options: "x"}} {
		_, err := OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", other)
		assert.ErrorContains(t, err, "-resume", "%v", other)
	}
	r.file("a.jsonl", lines(0, 1))
	assert.ErrorContains(t, open(), "a file")
	_, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{source.Stdin}, "", to)
	assert.ErrorContains(t, err, "standard input")
}

func TestQueueCarriesEverything(t *testing.T) {
	r := newRig(t, convert.Options{})
	q, err := memqueue.New(nil)
	require.NoError(t, err)
	defer func() { assert.NoError(t, q.Close()) }()
	r.Queue = q
	report, err := r.load(r.file("a.jsonl", lines(0, 3000)))
	require.NoError(t, err)
	assert.Equal(t, int64(3000), report.Completed)
	assert.Equal(t, int64(3000), r.server.DocumentCount("hotels"))
}

func TestProgressAndReportSayWhatHappens(t *testing.T) {
	p := Progress{Read: 50, Total: 100, Completed: 12_345, Rejected: 3, Kinds: map[string]int64{"value": 2, "key": 1}, Bytes: 1e9, InFlight: 2, Retries: 7, Held: errors.New("503"), Elapsed: 10 * time.Second}
	assert.Equal(t, " 50%  12,345 documents  1,234/s  100 MB/s  ETA 10s  in flight 2  retries 7  rejected 3 (1 key, 2 value)  waiting: 503", p.String())
	assert.Equal(t, "50 B  0 documents  0/s  0 B/s  in flight 0", Progress{Read: 50}.String())
}

// The run resumes in the middle of a rejects file whose lines name other files, and writes to a file with a line of
// another run.
func TestResumedLoadOfRejectsKeepsItsRejects(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("old.jsonl", `{"azsearch":"reject","file":"a.jsonl","line":9,"offset":900,"original":"{}"}`+"\n"+
		`{"azsearch":"reject","file":"a.jsonl","line":1,"offset":0,"original":"{}"}`+"\n")
	open := func() {
		var err error
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", Destination{ETag: "1"})
		require.NoError(t, err)
	}
	open()
	report, err := r.load(file)
	require.Error(t, err)
	assert.Equal(t, int64(2), report.Rejected)
	written := r.rejects()

	const other = `{"azsearch":"reject","file":"b.jsonl","line":1,"offset":0,"original":"{}"}` + "\n"
	content, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
	require.NoError(t, err)
	r.file("rejects.jsonl", other+string(content))
	open()
	require.NoError(t, r.Checkpoint.write(place{0, source.Position{Offset: written[1].Read.Offset, Line: 1}}, false, 1), "as after a crash")
	open()
	report, err = r.load(file)
	require.Error(t, err)
	assert.Equal(t, int64(2), report.Rejected)
	assert.Len(t, r.rejects(), 3)
	assert.Equal(t, written, r.rejects()[1:])
}
