// Package backup measures azsearch backup against reading the same index page by page, one after the other, from a
// service that takes 50 ms for each request. The service is in this process, so both share the processor with it.
//
//	go run . backup -docs 1000000
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/search"
)

// Command fails if a document is missing; a target that is missed is marked.
var Command = cli.Command{
	Name:  "backup",
	About: "azsearch backup, compared with reading page by page",
	Run:   run,
}

const target = 8 // times as fast as page by page

const definition = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String"},{"name":"description","type":"Edm.String"}]}`

func run(ctx context.Context, args []string, s cli.Streams) error {
	var documents, inFlight int
	var latency time.Duration
	set := cli.Flags("backup", s)
	set.IntVar(&documents, "docs", 200_000, "`documents` in the index")
	set.IntVar(&inFlight, "in-flight", 16, "`ranges` that azsearch reads at once")
	set.DurationVar(&latency, "latency", 50*time.Millisecond, "`time` that a request takes")
	if err := cli.Parse(set, args, nil); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "backup")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "azsearch")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, "./cmd/azsearch").CombinedOutput(); err != nil {
		return fmt.Errorf("building azsearch: %w: %s", err, out)
	}
	service := httptest.NewServer(&index{documents, latency})
	defer service.Close()

	client, err := search.NewClientWithKey(service.URL, "hotels", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		return err
	}
	began, n := time.Now(), 0
	for _, err := range search.Scan[json.RawMessage](ctx, client, &search.ScanOptions{KeyField: "id"}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != documents {
		return fmt.Errorf("page by page returned %d documents, want %d", n, documents)
	}
	anchor := time.Since(began)
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\tseconds\tdocuments/s\ttimes as fast\ttarget\t\npage by page\t%.1f\t%.0f\t1.0\t\t\n", anchor.Seconds(), float64(n)/anchor.Seconds())
	for _, passes := range []string{"1", "2"} {
		cmd := exec.CommandContext(ctx, program, "backup", "-quiet", "-in-flight", strconv.Itoa(inFlight), "-passes", passes, filepath.Join(folder, passes))
		cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+service.URL, "AZURE_SEARCH_API_KEY=key")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err == nil && !strings.Contains(string(out), fmt.Sprintf("\t%d documents\t", documents)) {
			err = errors.New("documents are missing")
		}
		if err != nil {
			return fmt.Errorf("azsearch backup: %w: %s", err, out)
		}
		took, mark := time.Since(began), ""
		times := anchor.Seconds() / took.Seconds()
		if times < target {
			mark = " missed"
		}
		fmt.Fprintf(table, "backup, passes: %s\t%.1f\t%.0f\t%.1f\t%d%s\t\n", passes, took.Seconds(), float64(n)/took.Seconds(), times, target, mark)
	}
	return table.Flush()
}

// index is a service with one index, of documents with the keys 00000000, 00000001 and so on.
type index struct {
	documents int
	latency   time.Duration
}

var condition = regexp.MustCompile(`id (g[te]|le) '([^']*)'`)

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(x.latency)
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/indexes":
		fmt.Fprintf(w, `{"value":[%s]}`, definition)
	case path == "/indexes('hotels')":
		fmt.Fprint(w, definition)
	case strings.HasSuffix(path, "/$count"):
		fmt.Fprint(w, x.documents)
	case strings.HasSuffix(path, "/docs/search.post.search"):
		x.search(w, r)
	default:
		fmt.Fprint(w, `{"value":[]}`)
	}
}

func (x *index) search(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Filter, Select string
		Skip, Top      int
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	first, behind := 0, x.documents
	for _, c := range condition.FindAllStringSubmatch(query.Filter, -1) {
		key, _ := strconv.Atoi(c[2])
		switch c[1] {
		case "ge":
			first = key
		case "gt":
			first = key + 1
		case "le":
			behind = key + 1
		}
	}
	first += query.Skip
	behind = min(behind, first+query.Top)
	b := []byte(`{"value":[`)
	for i := first; i < behind; i++ {
		if i > first {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"@search.score":1,"id":"%08d"`, i)
		if query.Select != "id" {
			b = append(append(append(b, `,"name":"Hotel","description":"`...), description...), '"')
		}
		b = append(b, '}')
	}
	_, _ = w.Write(append(b, `]}`...))
}

var description = strings.Repeat("close to the river and quiet at night ", 16)
