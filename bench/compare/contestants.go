package compare

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

// contestant is one row of the table.
type contestant struct {
	name      string
	family    string // the library that it uses
	producers int
	inFlight  int // ours: Limits.MaxInFlight; BulkIndexers: NumWorkers
	perCall   int // documents per adding call; 0 means 1
	// main marks the contestant of its family in the table of faults.
	main bool
}

// The libraries.
const (
	ours           = "ours"
	esutilFamily   = "esutil"
	openSearch     = "opensearchutil"
	docAppender    = "docappender"
	javaScript     = "JavaScript"
	floorMarshal   = "floor A"
	floorTransport = "floor B"
)

var contestants = []contestant{
	{name: "ours, 1 producer, 1 in flight", family: ours, producers: 1, inFlight: 1, main: true},
	{name: "ours, 1 producer, 8 in flight", family: ours, producers: 1, inFlight: 8},
	{name: "ours, 2 producers, 1 in flight", family: ours, producers: 2, inFlight: 1},
	{name: "ours, 2 producers, 8 in flight", family: ours, producers: 2, inFlight: 8},
	{name: "ours, 1 producer, 1 in flight, 100 documents a call", family: ours, producers: 1, inFlight: 1, perCall: 100},
	{name: "esutil, 1 producer, 1 worker", family: esutilFamily, producers: 1, inFlight: 1, main: true},
	{name: "esutil, 2 producers, 2 workers", family: esutilFamily, producers: 2, inFlight: 2},
	{name: "opensearchutil, 1 producer, 1 worker", family: openSearch, producers: 1, inFlight: 1, main: true},
	{name: "opensearchutil, 2 producers, 2 workers", family: openSearch, producers: 2, inFlight: 2},
	{name: "docappender, 1 producer", family: docAppender, producers: 1, main: true},
	{name: "docappender, 2 producers", family: docAppender, producers: 2},
	{name: "JavaScript, 1 producer", family: javaScript, producers: 1, main: true},
	{name: "floor A: Marshal, POST, Unmarshal", family: floorMarshal, producers: 1},
	{name: "floor B: HTTP only", family: floorTransport, producers: 1},
}

// peer reports whether c is another library that does the same work.
func (c contestant) peer() bool {
	switch c.family {
	case ours, floorMarshal, floorTransport:
		return false
	}
	return true
}

func isJavaScript(c contestant) bool { return c.family == javaScript }

func contestantNamed(name string) (contestant, error) {
	for _, c := range contestants {
		if c.name == name {
			return c, nil
		}
	}
	return contestant{}, fmt.Errorf("there is no contestant %q", name)
}

// modules are the sources of the families, and their settings that differ from the defaults.
var modules = []struct{ family, path, settings string }{
	{ours, "github.com/go-azsearch/azsearch", "default options, but MaxBatchBytes 1,000,000 and MaxBatchActions 32,000, so that the bytes decide"},
	{esutilFamily, "github.com/elastic/go-elasticsearch/v9", "esutil.BulkIndexer: FlushBytes 1,000,000; json.Marshal for each document"},
	{openSearch, "github.com/opensearch-project/opensearch-go/v4", "opensearchutil.BulkIndexer: FlushBytes 1,000,000; json.Marshal for each document"},
	{docAppender, "github.com/elastic/go-docappender/v2", "FlushBytes 1,000,000 (default 1 MiB; up to 10 requests at a time); json.Marshal for each document"},
}

// version returns the version of a module that this program was built with.
func version(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	for _, dep := range info.Deps {
		if dep.Path != path {
			continue
		}
		if dep.Replace != nil {
			return "from this tree"
		}
		return dep.Version
	}
	return "of unknown version"
}

// silent is the Reported of a contestant that does not report losses.
const silent = -1

// send sends the documents with a contestant and returns when it considers them all settled. reported is the number
// of documents that it reported as failed.
func send[T any](ctx context.Context, w *corpus.Workload[T], c contestant, t task) (reported int64, err error) {
	switch c.family {
	case ours:
		return sendOurs(ctx, w, c, t)
	case esutilFamily:
		return sendElasticsearch(ctx, w, c, t)
	case openSearch:
		return sendOpenSearch(ctx, w, c, t)
	case docAppender:
		return sendAppender(ctx, w, c, t)
	case floorMarshal:
		return sendMarshalled(ctx, w, t)
	case floorTransport:
		return sendEncoded(ctx, w, t)
	}
	return 0, fmt.Errorf("%s does not run in this process", c.family)
}
