package pool

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first of three that are told panics, or ends its goroutine: the others are told, and the slots are theirs.
func TestAWakeUpThatPanicsLosesNoOther(t *testing.T) {
	for name, fault := range map[string]func(){"panic": func() { panic("odd") }, "Goexit": runtime.Goexit} {
		for what, end := range map[string]func(*Pool, *Member){
			"Set":   func(p *Pool, _ *Member) { _ = p.Set(Settings{Expedited: 4}) },
			"Leave": func(_ *Pool, m *Member) { m.Leave() },
			"Shutdown": func(p *Pool, _ *Member) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = p.Shutdown(ctx)
			},
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				p := newPool(t, slots(1, 1))
				m := join(t, p, "m")
				slot := m.takes(t, Expedited)
				woken := 0
				for range 3 {
					_, ok, err := m.Seat(func() { woken++; fault() }).Ask(Expedited, 1)
					require.NoError(t, err)
					require.False(t, ok)
				}
				done := make(chan any)
				go func() {
					defer close(done)
					defer func() { done <- recover() }()
					end(p, m)
				}()
				if v := <-done; name == "panic" {
					require.Equal(t, "odd", v, "whose fault it is learns of it")
				}
				<-done
				require.Equal(t, 3, woken)
				slot.Release()
			})
		}
	}
}

// However large its requests are said to be, nobody is passed twice by who makes them.
func TestHugeRequestsPassNobodyTwice(t *testing.T) {
	for _, bytes := range []int64{math.MaxInt64, math.MaxInt64 / 2, math.MinInt64, -1} {
		p := newPool(t, slots(1, 1))
		huge, small := join(t, p, "huge"), join(t, p, "small")
		ask := func() Slot {
			slot, ok, err := huge.Seat(func() {}).Ask(Assured1, bytes)
			require.NoError(t, err)
			require.True(t, ok)
			return slot
		}
		for range 3 {
			slot := ask()
			slot.Release()
		}
		first := ask()
		q := &queue{t: t}
		for range 10 {
			q.asks(huge, Assured1, bytes)
		}
		q.asks(small, Assured1, 1)
		require.Contains(t, q.drain(&first)[:2], "small assured1", "%d bytes", bytes)
	}
}
