package publisher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// An item that fails alone at every attempt, one every five seconds, is to blame after a number of attempts that
// depends on the success rate of the others in between.
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
		{"no other passes", 0, 10, 4, 0}, // it is the service
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

// A failure that all items have is not remarkable.
func TestWhatIsRemarkable(t *testing.T) {
	for _, c := range []struct {
		name         string
		good, failed uint32 // of the others, in total
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

// The cost of an attempt by its result. In each row an item may be tried four times and has used three attempts.
func TestWhichAttemptsCount(t *testing.T) {
	for name, c := range map[string]struct {
		budget budget
		failed failed
		spent  bool
	}{
		"without a gate every failure counts":         {budget{attempts: 4}, failed{whole: true}, true},
		"with a gate only if others pass":             {budget{attempts: 4, gated: true}, failed{}, false},
		"others were applied in the same reply":       {budget{attempts: 4, gated: true}, failed{progress: true}, true},
		"the answer is about this item":               {budget{attempts: 4, gated: true}, failed{own: true}, true},
		"the request failed as a whole by chance":     {budget{attempts: 4, gated: true}, failed{whole: true, progress: true}, false},
		"the service is too busy: chance":             {budget{attempts: 4, gated: true}, failed{busy: true, progress: true}, false},
		"too busy, without a gate, while others pass": {budget{attempts: 4}, failed{busy: true, progress: true}, false},
		"too busy, without a gate, and nothing does":  {budget{attempts: 4}, failed{busy: true}, true},
		"retries are off":                             {budget{attempts: 1, gated: true}, failed{busy: true}, true},
		"retries are off, but it is the gate's":       {budget{attempts: 1, gated: true}, failed{whole: true, unpaid: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := history{used: 3}
			assert.Equal(t, c.spent, c.budget.spent(&h, c.failed, 2))
		})
	}
}

// An item that fails while nothing else is sent is given up after ten minutes if all other items also fail, and if a
// Ping, where there is one, succeeds.
func TestWhatFailsAloneIsGivenUpAfterTenMinutes(t *testing.T) {
	for name, c := range map[string]struct {
		canPing, pinged bool
		others, lonely  int // other items, and how many of them have failed alone
		spent           bool
	}{
		"the only one":                         {spent: true},
		"another one has not been tried":       {others: 1},
		"all others fail too":                  {others: 3, lonely: 3, spent: true},
		"all fail, and the service is gone":    {others: 3, lonely: 3, canPing: true},
		"all fail, and the service answers":    {others: 3, lonely: 3, canPing: true, pinged: true, spent: true},
		"some do not, and the service answers": {others: 3, lonely: 2, canPing: true, pinged: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, h := budget{attempts: 4, gated: true, canPing: c.canPing, lonely: c.lonely}, history{}
			fail := func(after time.Duration) bool {
				return b.spent(&h, failed{now: after, whole: true, asked: c.canPing, pinged: c.pinged}, 1+c.others)
			}
			assert.False(t, fail(0))
			assert.False(t, fail(10*time.Minute-1))
			assert.Equal(t, c.spent, fail(10*time.Minute))
			b.joined(&h)
			b.joined(&h) // once
			assert.Equal(t, c.lonely, b.lonely)
		})
	}
}
