// Package backup compares azsearch backup and restore with reading and writing the same index sequentially, page by
// page. The service takes 50 ms per request. It is a separate process with prepared replies; the table shows the
// processor share of each process and the mean number of requests in flight.
//
//	go run . backup -docs 1000000
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/search"
)

// Command fails if a document is missing. It only marks a missed target.
var Command = cli.Command{
	Name:  "backup",
	About: "azsearch backup and restore, compared with page by page",
	Run:   run,
	Tasks: map[string]cli.Task{"service": serve},
}

const target = 8 // times as fast as page by page

const readPages, writePages = "read page by page", "write page by page"

type bench struct {
	folder, program     string
	documents, inFlight int
	latency             time.Duration

	names []string // names of rows, in order
	rows  map[string]*row
}

// row has the runs of one contestant. Processor time is in processors: seconds per second.
type row struct {
	seconds, underWay, own, service, others []float64
	memory                                  int64
}

func run(ctx context.Context, args []string, s cli.Streams) error {
	b := &bench{rows: map[string]*row{}}
	var rounds int
	set := cli.Flags("backup", s)
	set.IntVar(&b.documents, "docs", 200_000, "`documents` in the index, of 650 bytes")
	set.IntVar(&rounds, "rounds", 5, "`rounds`; each contestant runs once per round")
	set.IntVar(&b.inFlight, "in-flight", 32, "`requests` that azsearch makes at once")
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
	return b.table(s.Out)
}

func (b *bench) table(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\tseconds\tdocuments/s\ttimes as fast\ttarget\trequests under way\tprocessors of %d: own\tservice\tothers\tmemory MB\t\n", runtime.NumCPU())
	for _, name := range b.names {
		r := b.rows[name]
		seconds := measure.Median(r.seconds)
		anchor, goal := readPages, ""
		if strings.HasPrefix(name, "restore") || name == writePages {
			anchor = writePages
		}
		times := measure.Median(b.rows[anchor].seconds) / seconds
		if name != anchor {
			goal = strconv.Itoa(target) + map[bool]string{true: " missed"}[times < target]
		}
		fmt.Fprintf(table, "%s\t%.1f\t%.0f\t%.1f\t%s\t%.1f\t%.2f\t%.2f\t%.2f\t%s\t\n", name, seconds, float64(b.documents)/seconds, times, goal,
			measure.Median(r.underWay), measure.Median(r.own), measure.Median(r.service), measure.Median(r.others), measure.Megabytes(r.memory))
	}
	return table.Flush()
}

// service is an index in another process.
type service struct {
	address string
	process *child.Process
}

func (s *service) counts(ctx context.Context) (c counts, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+countsPath, nil)
	if err != nil {
		return c, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

// watch records the usage of the service, the client and all other processes while do runs. do returns the processor
// time of the client.
func (b *bench) watch(ctx context.Context, name string, s *service, do func() (float64, error)) error {
	r := b.rows[name]
	if r == nil {
		r = &row{}
		b.rows[name], b.names = r, append(b.names, name)
	}
	before, err := s.counts(ctx)
	if err != nil {
		return err
	}
	usedBefore, err := measure.ProcessCPU(s.process.PID())
	if err != nil {
		return err
	}
	machine, began := measure.MachineCPU(), time.Now()
	own, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	seconds, all := time.Since(began).Seconds(), measure.MachineCPU()-machine
	used, err := measure.ProcessCPU(s.process.PID())
	if err != nil {
		return err
	}
	after, err := s.counts(ctx)
	if err != nil {
		return err
	}
	used -= usedBefore
	r.seconds = append(r.seconds, seconds)
	r.underWay = append(r.underWay, (after.Seconds-before.Seconds)/seconds)
	r.own, r.service, r.others = append(r.own, own/seconds), append(r.service, used/seconds), append(r.others, max(0, all-own-used)/seconds)
	return nil
}

// round runs each contestant once.
func (b *bench) round(ctx context.Context) error {
	says := fmt.Sprintf("\t%d documents\t", b.documents)
	var dir string
	if err := b.with(ctx, true, func(full *service) error {
		if err := b.here(ctx, readPages, full, b.read); err != nil {
			return err
		}
		for _, passes := range []string{"1", "2"} {
			dir = filepath.Join(b.folder, passes)
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			if err := b.azsearch(ctx, "backup, passes: "+passes, full, says, "backup", "-passes", passes, dir); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := b.with(ctx, false, func(empty *service) error { return b.here(ctx, writePages, empty, b.write) }); err != nil {
		return err
	}
	return b.with(ctx, false, func(empty *service) error {
		return b.azsearch(ctx, "restore, and compare", empty, "the same as in the backup", "restore", dir)
	})
}

// with starts a service. It must have all documents when do returns.
func (b *bench) with(ctx context.Context, full bool, do func(*service) error) (err error) {
	command, err := child.Task(ctx, "backup", "service", serviceTask{b.documents, b.latency, full})
	if err != nil {
		return err
	}
	s := &service{}
	if s.process, s.address, err = child.StartServer(command); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	if err := do(s); err != nil {
		return err
	}
	c, err := s.counts(ctx)
	if err == nil && c.Has != int64(b.documents) {
		err = fmt.Errorf("the service has %d documents, want %d", c.Has, b.documents)
	}
	return err
}

// here measures a contestant in this process.
func (b *bench) here(ctx context.Context, name string, s *service, do func(context.Context, *search.Client) error) error {
	client, err := search.NewClientWithKey(s.address, "hotels", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		return err
	}
	return b.watch(ctx, name, s, func() (float64, error) {
		before, err := measure.ProcessCPU(os.Getpid())
		if err != nil {
			return 0, err
		}
		if err := do(ctx, client); err != nil {
			return 0, err
		}
		after, err := measure.ProcessCPU(os.Getpid())
		return after - before, err
	})
}

func (b *bench) read(ctx context.Context, client *search.Client) error {
	n := 0
	for _, err := range search.Scan[json.RawMessage](ctx, client, &search.ScanOptions{KeyField: "id"}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != b.documents {
		return fmt.Errorf("it returned %d documents, want %d", n, b.documents)
	}
	return nil
}

func (b *bench) write(ctx context.Context, client *search.Client) error {
	page := make([]json.RawMessage, 0, most)
	for i := range b.documents {
		if page = append(page, fmt.Appendf(nil, `{"id":"%0*d",%s`, keyDigits, i, rest)); len(page) < most && i < b.documents-1 {
			continue
		}
		if _, err := search.UploadDocuments(ctx, client, page, nil); err != nil {
			return err
		}
		page = page[:0]
	}
	return nil
}

// azsearch runs a command, whose output must contain says.
func (b *bench) azsearch(ctx context.Context, name string, s *service, says string, args ...string) error {
	return b.watch(ctx, name, s, func() (float64, error) {
		args = append([]string{args[0], "-quiet", "-in-flight", strconv.Itoa(b.inFlight)}, args[1:]...)
		cmd := exec.CommandContext(ctx, b.program, args...)
		cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+s.address, "AZURE_SEARCH_API_KEY=key")
		out, err := cmd.CombinedOutput()
		if err == nil && !strings.Contains(string(out), says) {
			err = errors.New("documents are missing")
		}
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			b.rows[name].memory = max(b.rows[name].memory, usage.Maxrss<<10)
		}
		return cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds(), nil
	})
}
