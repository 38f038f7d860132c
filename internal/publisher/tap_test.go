package publisher

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tap is a Tap made of functions.
type tap struct {
	before  func(keys []string) error
	confirm func(keys []string) (bool, error)
}

func (t *tap) Before(_ context.Context, keys []string) error          { return t.before(keys) }
func (t *tap) Confirm(_ context.Context, keys []string) (bool, error) { return t.confirm(keys) }

var errUnreadable = errors.New("the tap cannot be read")

func TestNothingIsSentWithoutTheConsentOfTheTap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := &service{answer: applied}
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Tap = &tap{
				before: func([]string) error {
					if asked++; asked < 4 {
						return errUnreadable
					}
					return nil
				},
				confirm: func([]string) (bool, error) { return false, nil },
			}
		})
		add(t, p, 2)
		require.NoError(t, p.Flush(t.Context()))
		assert.Len(t, s.times, 1)
		assert.Equal(t, 2, e.completed)
		assert.Equal(t, 1, e.attempts)
		assert.GreaterOrEqual(t, s.times[0], time.Second, "the tap is not called again without a pause")
	})
}

func TestWhatTheTapDoesNotConfirmIsSentAgain(t *testing.T) {
	for name, answer := range map[string]struct {
		again bool
		err   error
	}{"because the actions must be sent": {again: true}, "because their state is unknown": {err: errUnreadable}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(b *Batch[int]) Reply[int] {
					r := applied(b)
					if b.Items[0].Key == "k0" {
						r.Results[0] = Result[int]{Next: Fail}
					}
					return r
				}}
				var before, confirmed [][]string
				p, e := start(t, s, func(c *Config[int, int]) {
					c.Tap = &tap{
						before: func(keys []string) error { before = append(before, slices.Clone(keys)); return nil },
						confirm: func(keys []string) (bool, error) {
							if confirmed = append(confirmed, slices.Clone(keys)); len(confirmed) < 4 {
								return answer.again, answer.err
							}
							return false, nil
						},
					}
				})
				add(t, p, 3)
				var failed *FlushError
				require.ErrorAs(t, p.Flush(t.Context()), &failed)
				assert.EqualValues(t, 1, failed.Count, "k0, which the service has refused")
				assert.Equal(t, [][]string{{"k0", "k1", "k2"}, {"k1", "k2"}, {"k1", "k2"}, {"k1", "k2"}}, before)
				assert.Equal(t, slices.Repeat([][]string{{"k1", "k2"}}, 4), confirmed)
				assert.Equal(t, 2, e.completed)
				assert.Equal(t, 1, e.attempts, "MaxAttempts allows two attempts")
			})
		})
	}
}

func TestWhatIsNotConfirmedWhenCloseGivesUpIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Tap = &tap{
				before:  func([]string) error { return nil },
				confirm: func([]string) (bool, error) { return false, errUnreadable },
			}
		})
		add(t, p, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var closed *CloseError
		require.ErrorAs(t, p.Close(ctx), &closed)
		assert.EqualValues(t, 3, closed.Unknown)
	})
}

// halfOpenGate is a gate that stays half-open and lets one probe in at a time.
type halfOpenGate struct{ out atomic.Bool }

func (g *halfOpenGate) Enter() (Permit, bool) {
	if g.out.Swap(true) {
		return nil, false
	}
	return &halfOpenPermit{g}, true
}

func (*halfOpenGate) Early(bool) {}

func (g *halfOpenGate) State() GateState { return GateState{Shut: ErrShut, Ready: !g.out.Load()} }

type halfOpenPermit struct{ g *halfOpenGate }

func (*halfOpenPermit) Probe() bool { return true }

func (*halfOpenPermit) Answered() {}

func (p *halfOpenPermit) Done(Service, time.Duration, error) { p.g.out.Store(false) }

func TestATapThatCannotBeReadIsNotAskedWithoutAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Gate = &halfOpenGate{}
			c.Tap = &tap{
				before: func([]string) error {
					if asked.Add(1) > 1000 {
						time.Sleep(time.Minute)
					}
					return errUnreadable
				},
				confirm: func([]string) (bool, error) { return false, nil },
			}
		})
		add(t, p, 2)
		p.FlushAfter(0)
		time.Sleep(time.Minute)
		assert.Less(t, asked.Load(), int64(100))
		ended, cancel := withEnded(t)
		defer cancel()
		_ = p.Close(ended)
		time.Sleep(time.Hour)
	})
}
