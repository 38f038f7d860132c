package measure

import (
	"runtime"
	"time"
)

// Usage is the resource usage of a process in a period.
type Usage struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	// Allocations and AllocatedBytes are -1 if not counted.
	Allocations    int64 `json:"allocations"`
	AllocatedBytes int64 `json:"allocatedBytes"`
	// PeakRSS is the peak over the life of the process, in bytes; 0: unknown.
	PeakRSS int64 `json:"PeakRSS"`
}

// Clock has the usage of the process at its start.
type Clock struct {
	time   time.Time
	cpu    time.Duration
	memory runtime.MemStats
}

// Start starts or restarts the clock.
func (c *Clock) Start() {
	runtime.GC()
	runtime.ReadMemStats(&c.memory)
	c.cpu = cpuTime()
	c.time = time.Now()
}

// Stop returns the usage since the start.
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

// Heap returns the live heap in bytes.
func Heap() float64 {
	runtime.GC()
	runtime.GC() // the second collection empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
