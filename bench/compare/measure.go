package compare

import (
	"context"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// task is the work of one process: one contestant sends its documents once.
type task struct {
	Contestant string `json:"contestant"`
	Shape      string `json:"shape"`
	Documents  int    `json:"documents"`
	BatchBytes int    `json:"batchBytes"`
	Endpoint   string `json:"endpoint"`
	// Profile is a folder for profiles, "" for none.
	Profile string `json:"profile,omitempty"`
	// Watch enables a costly check of failures.
	Watch bool `json:"watch,omitempty"`

	clock *measure.Clock
}

// start restarts the clock, so that preparation does not count.
func (t task) start() { t.clock.Start() }

// measurement is the result of a task.
type measurement struct {
	measure.Usage
	// Reported is the number of documents that the contestant reported as failed, -1 if it does not report failures.
	Reported         int64   `json:"reported"`
	BytesPerDocument float64 `json:"bytesPerDocument"` // size of a document in JSON
	Version          string  `json:"version,omitempty"`
}

// executeTask runs the task of this process.
func executeTask(ctx context.Context, t task) (*measurement, error) {
	s, err := shapeNamed(t.Shape)
	if err != nil {
		return nil, err
	}
	return s.measure(ctx, t)
}

// carryOut sends the documents with the contestant of a task.
func carryOut[T any](ctx context.Context, w *corpus.Workload[T], t task) (*measurement, error) {
	c, err := contestantNamed(t.Contestant)
	if err != nil {
		return nil, err
	}
	m := new(measurement)
	if m.BytesPerDocument, err = w.BytesPerDocument(); err != nil {
		return nil, err
	}
	profile := ""
	if t.Profile != "" {
		runtime.MemProfileRate = 64 << 10 // a small sample interval, at little cost
		profile = filepath.Join(t.Profile, notInNames.ReplaceAllString(t.Contestant+" "+t.Shape, "-"))
	}
	return m, measure.Profiled(profile, func() (err error) {
		t.clock = new(measure.Clock)
		t.clock.Start()
		m.Reported, err = send(ctx, w, c, t)
		m.Usage = t.clock.Stop()
		return err
	})
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9]+`)
