package measure

import (
	"runtime"
	"time"
)

// Usage is what a process has used between two moments.
type Usage struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	// Allocations and AllocatedBytes are -1 where nobody counts them.
	Allocations    int64 `json:"allocations"`
	AllocatedBytes int64 `json:"allocatedBytes"`
	// PeakRSS is of the whole life of the process, in bytes; 0: not known.
	PeakRSS int64 `json:"PeakRSS"`
}

// Clock remembers what had been used up when it was started.
type Clock struct {
	time   time.Time
	cpu    time.Duration
	memory runtime.MemStats
}

// Start starts the clock, also again.
func (c *Clock) Start() {
	runtime.GC()
	runtime.ReadMemStats(&c.memory)
	c.cpu = cpuTime()
	c.time = time.Now()
}

// Stop returns what has been used since the start.
func (c *Clock) Stop() Usage {
	u := Usage{
		Seconds:    time.Since(c.time).Seconds(),
		CPUSeconds: (cpuTime() - c.cpu).Seconds(),
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u.Allocations = int64(memory.Mallocs - c.memory.Mallocs)
	u.AllocatedBytes = int64(memory.TotalAlloc - c.memory.TotalAlloc)
	u.PeakRSS = PeakRSS()
	return u
}

// Heap is what is alive on the heap, in bytes.
func Heap() float64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
