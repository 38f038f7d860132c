package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"

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

// executeTask is the command "compare task".
func executeTask(text string, stdout io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("the task: %w", err)
	}
	s, err := shapeNamed(t.Shape)
	if err != nil {
		return err
	}
	m, err := s.measure(t)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(m)
}

// carryOut lets the contestant of a task send the documents.
func carryOut[T any](w *corpus.Workload[T], t task) (*measurement, error) {
	c, err := contestantNamed(t.Contestant)
	if err != nil {
		return nil, err
	}
	m := new(measurement)
	if m.BytesPerDocument, err = w.BytesPerDocument(); err != nil {
		return nil, err
	}
	stop, err := startProfile(t)
	if err != nil {
		return nil, err
	}
	t.clock = new(measure.Clock)
	t.clock.Start()
	m.Reported, err = send(context.Background(), w, c, t)
	m.Usage = t.clock.Stop()
	return m, errors.Join(err, stop())
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// startProfile starts the CPU profile of a task, and the closer look at
// allocations. The function that it returns writes both.
func startProfile(t task) (stop func() error, err error) {
	if t.Profile == "" {
		return func() error { return nil }, nil
	}
	runtime.MemProfileRate = 64 << 10 // many samples of little, at little cost
	base := filepath.Join(t.Profile, notInNames.ReplaceAllString(t.Contestant+" "+t.Shape, "-"))
	cpu, err := os.Create(base + ".cpu.prof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		memory, err := os.Create(base + ".mem.prof")
		if err != nil {
			return errors.Join(err, cpu.Close())
		}
		return errors.Join(cpu.Close(), pprof.Lookup("allocs").WriteTo(memory, 0), memory.Close())
	}, nil
}
