package faults

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meter finds the most memory that was in use at once: what the collector found
// alive, above what was alive when the meter was started. Garbage that waits to
// be collected is not counted, because how much of it there is is GOGC's choice.
type meter struct {
	baseline int64
	peak     int64
	sampled  time.Time
	samples  []metrics.Sample
}

const (
	// liveSlack is how far the heap may grow beyond the peak before the meter
	// has it collected to see what of it is alive.
	liveSlack = 4 << 20
	// collectEvery is how long it waits before it does that again.
	collectEvery = 300 * time.Millisecond
)

func newMeter() *meter {
	m := &meter{samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}}
	runtime.GC()
	m.baseline, _ = m.read()
	m.peak = m.baseline
	return m
}

func (m *meter) read() (live, heap int64) {
	metrics.Read(m.samples)
	return int64(m.samples[0].Value.Uint64()), int64(m.samples[1].Value.Uint64())
}

// sample is called every few milliseconds. What lives less long than two calls
// are apart, or than a collection every 300 ms can show, it may miss.
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

// above is the peak above the baseline, in bytes.
func (m *meter) above() int64 { return m.peak - m.baseline }
