package scale

import (
	"sync/atomic"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// sampleCount is how often the memory is looked at during a run.
const sampleCount = 20

// sampler looks at the memory of the process at equal numbers of documents:
// before the first, and then whenever another twentieth has been accepted.
// Producers share it.
type sampler struct {
	documents int64
	accepted  atomic.Int64
	// rss has one element for each sample. It is read after the producers have
	// ended, and each element is written by one of them.
	rss [sampleCount + 1]int64
}

func newSampler(documents int) *sampler {
	s := &sampler{documents: int64(documents)}
	s.rss[0] = measure.RSS()
	return s
}

// add says that n more documents have been accepted.
func (s *sampler) add(n int) {
	after := s.accepted.Add(int64(n))
	before := after - int64(n)
	// Of two producers only one takes the count past a twentieth.
	last := after * sampleCount / s.documents
	for i := before*sampleCount/s.documents + 1; i <= last; i++ {
		s.rss[i] = measure.RSS()
	}
}
