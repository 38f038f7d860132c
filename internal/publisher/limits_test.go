package publisher

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// serve sends n full batches to a service that refuses batches larger than hidden, and returns the number of
// refusals.
func serve(s *sizeLimit, hidden, n int) (refused int) {
	for range n {
		if s.current > hidden {
			s.refuse(s.current)
			refused++
			continue
		}
		s.accept(s.current, true)
	}
	return refused
}

func TestTheSizeLimitFindsAHiddenLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hidden := rapid.IntRange(1000, 15_000_000).Draw(t, "hidden")
		s := newSizeLimit(16_000_000)
		serve(&s, hidden, 60)
		require.LessOrEqual(t, serve(&s, hidden, 2000), 60, "probing costs little")
		best := 0
		for range 20 {
			best = max(best, s.current)
			serve(&s, hidden, 1)
		}
		require.Greater(t, best, hidden-hidden/4, "batches are nearly as large as they may be")
	})
}

func TestTheSizeLimitForgetsATroubleThatPassed(t *testing.T) {
	s := newSizeLimit(16_000_000)
	assert.NotZero(t, serve(&s, 100_000, 100))
	serve(&s, 1<<30, 2000)
	assert.Equal(t, 16_000_000, s.current)
	assert.Zero(t, s.refused)
}

func TestOneRefusalDoesNotShrinkBatchesForGood(t *testing.T) {
	s := newSizeLimit(1_000_000)
	s.refuse(900_000)
	s.refuse(450_000)
	assert.Less(t, s.current, 450_000)
	assert.Zero(t, serve(&s, 1_000_000, 100))
	assert.Equal(t, 1_000_000, s.current)
}

func TestARequestThatTookTooLongIsTooLargeIfItsRestPasses(t *testing.T) {
	for name, c := range map[string]struct {
		passes, then int
	}{
		"the rest of the request": {999, 999},
		"little of it":            {10, 1_000_000},
		"another request of its size, so it was an outage": {1000, 1_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSizeLimit(1_000_000)
			s.doubt(2000)
			s.doubt(1000)
			s.doubt(3000)
			s.accept(c.passes, false)
			assert.Equal(t, c.then, s.current)
		})
	}
	t.Run("an outage costs almost no requests", func(t *testing.T) {
		s := newSizeLimit(1000)
		s.doubt(1000)
		s.accept(999, false)
		assert.Zero(t, serve(&s, 1000, firstPatience))
		assert.Equal(t, 1000, s.current)
	})
}

func TestTheSizeLimitNeverLeavesItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 1000).Draw(t, "max")
		s := newSizeLimit(limit)
		t.Repeat(map[string]func(*rapid.T){
			"refuse": func(t *rapid.T) { s.refuse(rapid.IntRange(1, limit).Draw(t, "size")) },
			"accept": func(t *rapid.T) { s.accept(rapid.IntRange(1, limit).Draw(t, "size"), rapid.Bool().Draw(t, "cut")) },
			"":       func(t *rapid.T) { require.True(t, s.current >= 1 && s.current <= limit, "%+v", s) },
		})
	})
}

func TestOneRefusalDoesNotKeepLargeDocumentsApart(t *testing.T) {
	const document = 450_000 // two make a request before the refusal
	s := newSizeLimit(1_000_000)
	s.refuse(2 * document)
	for range 200 {
		n := max(1, s.current/document)
		s.accept(n*document, true)
	}
	assert.GreaterOrEqual(t, s.current, 2*document)
}

func TestARequestThatIsCutIsHeldToBeTooLargeOnceASmallerOneHasPassed(t *testing.T) {
	s := newSizeLimit(1 << 20)
	s.cut(1 << 20) // caused by an outage or by the size
	assert.Equal(t, slowStart, s.current)
	assert.False(t, s.suspect(1<<20))
	for want := 2 * slowStart; want <= 1<<18; want *= 2 {
		s.accept(s.current, true)
		assert.Equal(t, want, s.current)
	}
	require.True(t, s.suspect(1<<18))
	s.cut(1 << 18)
	assert.Equal(t, 1<<18, s.refused)
	assert.Equal(t, 1<<17, s.current)
	s.cut(1 << 17)
	assert.Equal(t, 1<<18, s.refused, "nothing has passed since, so it was an outage")

	s = newSizeLimit(1 << 20)
	s.cut(1 << 20)
	for range 4 {
		s.accept(s.current, true)
	}
	assert.Equal(t, 1<<20, s.current)
	s.accept(1<<20, false)
	assert.False(t, s.suspect(1<<20), "the failure was an outage")
}

// A limit learned from cuts is soon tested again. Otherwise a service that briefly accepted single items only would
// get small batches for minutes.
func TestALimitThatWasLearnedFromCutsIsTriedAgainSoon(t *testing.T) {
	s := newSizeLimit(1 << 20)
	s.cut(1 << 20)
	for range 30 {
		s.accept(1000, false)
		s.cut(max(s.current, 2000))
	}
	requests := 0
	for ; s.current < 1<<19; requests++ {
		require.Less(t, requests, 2000)
		s.accept(s.current, true)
	}
	assert.LessOrEqual(t, requests, 15*cutPatience)
}
