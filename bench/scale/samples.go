package scale

import (
	"sync/atomic"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// sampleCount is the number of memory samples of a run, after the first.
const sampleCount = 20

// sampler samples the memory of the process before the first document and after each twentieth of them. Producers
// share it.
type sampler struct {
	documents int64
	accepted  atomic.Int64
	// rss has one element per sample. One producer writes each element; it is read after all producers have ended.
	rss [sampleCount + 1]int64
}

func newSampler(documents int) *sampler {
	s := &sampler{documents: int64(documents)}
	s.rss[0] = measure.RSS()
	return s
}

// add counts n more accepted documents.
func (s *sampler) add(n int) {
	after := s.accepted.Add(int64(n))
	before := after - int64(n)
	// Only one producer counts past each twentieth.
	last := after * sampleCount / s.documents
	for i := before*sampleCount/s.documents + 1; i <= last; i++ {
		s.rss[i] = measure.RSS()
	}
}
