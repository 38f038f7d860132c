// Package backup measures azsearch backup and restore against reading and writing the same index page by page, one
// after the other, with a service that takes 50 ms for each request. The service is in this process, so both share the
// processor with it.
//
//	go run . backup -docs 1000000
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/search"
)

// Command fails if a document is missing; a target that is missed is marked.
var Command = cli.Command{
	Name:  "backup",
	About: "azsearch backup and restore, compared with page by page",
	Run:   run,
}

const target = 8 // times as fast as page by page

type bench struct {
	folder, program     string
	documents, inFlight int
	latency             time.Duration

	rows    []string // in their order
	seconds map[string][]float64
	cpu     map[string][]float64
	rss     map[string]int64
}

func run(ctx context.Context, args []string, s cli.Streams) error {
	b := &bench{seconds: map[string][]float64{}, cpu: map[string][]float64{}, rss: map[string]int64{}}
	var rounds int
	set := cli.Flags("backup", s)
	set.IntVar(&b.documents, "docs", 200_000, "`documents` in the index, of 650 bytes")
	set.IntVar(&rounds, "rounds", 5, "`rounds` in which each has a turn")
	set.IntVar(&b.inFlight, "in-flight", 16, "`requests` that azsearch makes at once")
	set.DurationVar(&b.latency, "latency", 50*time.Millisecond, "`time` that a request takes")
	if err := cli.Parse(set, args, nil); err != nil {
		return err
	}
	var err error
	if b.folder, err = os.MkdirTemp("", "backup"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	b.program = filepath.Join(b.folder, "azsearch")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", b.program, "./cmd/azsearch").CombinedOutput(); err != nil {
		return fmt.Errorf("building azsearch: %w: %s", err, out)
	}
	for range rounds {
		if err := b.round(ctx); err != nil {
			return err
		}
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tseconds\tof them CPU\tdocuments/s\ttimes as fast\ttarget\tmemory MB\t")
	for _, name := range b.rows {
		seconds := measure.Median(b.seconds[name])
		fmt.Fprintf(table, "%s\t%.1f\t", name, seconds)
		anchor := "read page by page"
		if strings.HasPrefix(name, "restore") {
			anchor = "write page by page"
		}
		if strings.HasSuffix(name, "page") {
			fmt.Fprintf(table, "\t%.0f\t1.0\t\t\t\n", float64(b.documents)/seconds)
			continue
		}
		times := measure.Median(b.seconds[anchor]) / seconds
		mark := map[bool]string{true: " missed"}[times < target]
		fmt.Fprintf(table, "%.1f\t%.0f\t%.1f\t%d%s\t%s\t\n", measure.Median(b.cpu[name]), float64(b.documents)/seconds, times, target, mark, measure.Megabytes(b.rss[name]))
	}
	return table.Flush()
}

func (b *bench) took(row string, d time.Duration) {
	if b.seconds[row] == nil {
		b.rows = append(b.rows, row)
	}
	b.seconds[row] = append(b.seconds[row], d.Seconds())
}

// round gives each a turn.
func (b *bench) round(ctx context.Context) error {
	full := httptest.NewServer(newIndex(b.documents, b.latency, true))
	defer full.Close()
	client, err := search.NewClientWithKey(full.URL, "hotels", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		return err
	}
	began := time.Now()
	page := make([]json.RawMessage, 0, 1000)
	var writing time.Duration
	empty := newIndex(b.documents, b.latency, false)
	target := httptest.NewServer(empty)
	defer target.Close()
	writer, err := search.NewClientWithKey(target.URL, "hotels", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		return err
	}
	write := func() error {
		began := time.Now()
		_, err := search.UploadDocuments(ctx, writer, page, nil)
		writing += time.Since(began)
		page = page[:0]
		return err
	}
	for document, err := range search.Scan[json.RawMessage](ctx, client, &search.ScanOptions{KeyField: "id"}) {
		if err != nil {
			return err
		}
		if page = append(page, document); len(page) == cap(page) {
			if err := write(); err != nil {
				return err
			}
		}
	}
	if len(page) > 0 {
		if err := write(); err != nil {
			return err
		}
	}
	if n := empty.has.Load(); n != int64(b.documents) {
		return fmt.Errorf("page by page returned %d documents, want %d", n, b.documents)
	}
	b.took("read page by page", time.Since(began)-writing)
	says := fmt.Sprintf("\t%d documents\t", b.documents)
	var dir string
	for _, passes := range []string{"1", "2"} {
		dir = filepath.Join(b.folder, passes)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := b.azsearch(ctx, "backup, passes: "+passes, full.URL, says, "backup", "-quiet", "-in-flight", strconv.Itoa(b.inFlight), "-passes", passes, dir); err != nil {
			return err
		}
	}
	b.took("write page by page", writing)
	back := newIndex(b.documents, b.latency, false)
	restored := httptest.NewServer(back)
	defer restored.Close()
	if err := b.azsearch(ctx, "restore, and compare", restored.URL, "the same as in the backup", "restore", "-quiet", "-in-flight", strconv.Itoa(b.inFlight), dir); err != nil {
		return err
	}
	if n := back.has.Load(); n != int64(b.documents) {
		return fmt.Errorf("restore wrote %d documents, want %d", n, b.documents)
	}
	return nil
}

// azsearch runs a command, which must print something.
func (b *bench) azsearch(ctx context.Context, row, endpoint, says string, args ...string) error {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+endpoint, "AZURE_SEARCH_API_KEY=key")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	b.took(row, time.Since(began))
	if err == nil && !strings.Contains(string(out), says) {
		err = errors.New("documents are missing")
	}
	if err != nil {
		return fmt.Errorf("azsearch %s: %w: %s", args[0], err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		b.rss[row] = max(b.rss[row], usage.Maxrss<<10)
		b.cpu[row] = append(b.cpu[row], cmd.ProcessState.UserTime().Seconds()+cmd.ProcessState.SystemTime().Seconds())
	}
	return nil
}
