package compare

import (
	"context"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// task is what one process does: one contestant sends its documents once.
type task struct {
	Contestant string `json:"contestant"`
	Shape      string `json:"shape"`
	Documents  int    `json:"documents"`
	BatchBytes int    `json:"batchBytes"`
	Endpoint   string `json:"endpoint"`
	// Profile is a folder for profiles, "" for none.
	Profile string `json:"profile,omitempty"`
	// Watch lets a contestant take a closer look at what fails, which costs time.
	Watch bool `json:"watch,omitempty"`

	clock *measure.Clock
}

// start starts the clock anew: what a contestant has done so far was not part
// of it.
func (t task) start() { t.clock.Start() }

// measurement is what a process has to say about its task.
type measurement struct {
	measure.Usage
	// Reported is how many documents the contestant said had failed, -1 if it
	// says nothing of that.
	Reported         int64   `json:"reported"`
	BytesPerDocument float64 `json:"bytesPerDocument"` // of the documents in JSON
	Version          string  `json:"version,omitempty"`
}

// executeTask is the task of a process.
func executeTask(ctx context.Context, t task) (*measurement, error) {
	s, err := shapeNamed(t.Shape)
	if err != nil {
		return nil, err
	}
	return s.measure(ctx, t)
}

// carryOut lets the contestant of a task send the documents.
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
		runtime.MemProfileRate = 64 << 10 // many samples of little, at little cost
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
