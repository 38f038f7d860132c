package faults

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meter measures peak memory: live heap after a collection, above the live heap when the meter started. It excludes
// garbage, whose amount depends on GOGC.
type meter struct {
	baseline int64
	peak     int64
	sampled  time.Time
	samples  []metrics.Sample
}

const (
	// liveSlack is the heap growth above the peak at which the meter runs a collection to measure live memory.
	liveSlack = 4 << 20
	// collectEvery is the minimum interval of these collections.
	collectEvery = 300 * time.Millisecond
)

func newMeter() *meter {
	m := &meter{samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}}
	runtime.GC()
	runtime.GC() // what earlier work left in a sync.Pool outlives one collection
	m.baseline, _ = m.read()
	m.peak = m.baseline
	return m
}

func (m *meter) read() (live, heap int64) {
	metrics.Read(m.samples)
	return int64(m.samples[0].Value.Uint64()), int64(m.samples[1].Value.Uint64())
}

// sample must be called every few milliseconds. It can miss memory that lives shorter than that, or than the 300 ms
// between collections.
func (m *meter) sample() {
	live, heap := m.read()
	m.peak = max(m.peak, live)
	if heap > m.peak+liveSlack && time.Since(m.sampled) > collectEvery {
		runtime.GC()
		m.sampled = time.Now()
		live, _ = m.read()
		m.peak = max(m.peak, live)
	}
}

// above returns the peak above the baseline, in bytes.
func (m *meter) above() int64 { return m.peak - m.baseline }
