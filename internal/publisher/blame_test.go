package publisher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// An item that fails alone each time is to blame after so many attempts, one every
// five seconds, depending on how many of the others get through in between.
func TestHowManyFailuresAreNotChance(t *testing.T) {
	for _, c := range []struct {
		name         string
		good, failed uint32 // of the others, between two attempts
		least        int
		attempts     int // 0: never within a thousand
	}{
		{"all others pass", 10, 0, 4, 13},          // a minute
		{"one in a hundred fails", 99, 1, 4, 13},   // a minute
		{"half of the others fail", 10, 10, 4, 21}, // 2^-20
		{"nine of ten fail", 1, 9, 4, 130},
		{"nobody else passes", 0, 10, 4, 0}, // it is the service
		{"MaxRetries is more than chance asks for", 10, 0, 50, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trial trial
			good, failed, spent := uint32(0), uint32(0), 0
			for i := range 1000 {
				good, failed = good+c.good, failed+c.failed+1 // its own
				if trial.counts(instant(i)*5*time.Second, good, failed, 1, c.least) {
					spent = i + 1
					break
				}
			}
			assert.InDelta(t, c.attempts, spent, float64(c.attempts)/10)
		})
	}
}

func TestNobodyIsToBlameWithinAMinute(t *testing.T) {
	var trial trial
	for i := range uint32(1000) {
		assert.False(t, trial.counts(instant(i)*59*time.Millisecond, 1000*i, i, 1, 4))
	}
	assert.True(t, trial.counts(time.Minute, 1000*1000, 1000, 1, 4))
}

// What befalls everybody is not remarkable.
func TestWhatIsRemarkable(t *testing.T) {
	for _, c := range []struct {
		name         string
		good, failed uint32 // of the others, in all
		least, most  int
	}{
		{"all others pass", 1000, 0, 10, 10},
		{"half of the others pass", 1000, 1000, 9, 10},
		{"hardly any pass", 1, 1000, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trial trial
			for i := range uint32(10) {
				trial.counts(0, c.good*i/9, (c.failed*i)/9+i+1, 1, 100)
			}
			got := trial.remarkable(c.good, c.failed+10)
			assert.GreaterOrEqual(t, got, c.least)
			assert.LessOrEqual(t, got, c.most)
		})
	}
}
