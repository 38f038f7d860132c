package scale

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// TestSamplesAreTakenAtEqualNumbersOfDocuments checks that samples are taken at each twentieth, and not earlier.
func TestSamplesAreTakenAtEqualNumbersOfDocuments(t *testing.T) {
	if measure.RSS() == 0 {
		t.Skip("memory is not measured on this system")
	}
	s := newSampler(1000)
	taken := func() (n int) {
		for _, rss := range s.rss {
			if rss > 0 {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 1, taken(), "one sample is taken before the first document")
	s.add(49)
	assert.Equal(t, 1, taken())
	s.add(1)
	assert.Equal(t, 2, taken())
	s.add(150)
	assert.Equal(t, 5, taken())
	s.add(800)
	assert.Equal(t, sampleCount+1, taken())
}

func TestSamplesOfManyProducersConcurrentSafe(t *testing.T) {
	s := newSampler(16 * 1000)
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			for range 1000 {
				s.add(1)
			}
		})
	}
	running.Wait()
	for i, rss := range s.rss {
		if measure.RSS() > 0 {
			assert.Positive(t, rss, "sample %d", i)
		}
	}
}
