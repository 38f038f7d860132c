package pool

import (
	"context"
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
