package publisher

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Items settled by a command are counted, also if the next command ends the goroutine. Otherwise their room would be
// lost.
func TestACommandThatEndsTheGoroutineLosesNoRoom(t *testing.T) {
	for name, next := range map[string]func(p *Publisher[int, int], h *Hold[int, int]){
		"the Accepted hook of actions added by a hold": func(_ *Publisher[int, int], h *Hold[int, int]) { _ = h.Add(letter("h1")) },
		"the function of a Withdraw": func(p *Publisher[int, int], _ *Hold[int, int]) {
			p.Withdraw(func(string, *int) bool { runtime.Goexit(); return false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exit := false
				p, e := start(t, &service{answer: applied}, func(c *Config[int, int]) {
					c.Hooks.Accepted = func(int) {
						if exit {
							exit = false
							runtime.Goexit()
						}
					}
					c.Hooks.Sent = func(*Batch[int]) { time.Sleep(time.Second) } // so that mail accumulates
				})
				h, err := p.Hold(t.Context(), []string{"h"}, someone)
				require.NoError(t, err)
				write(t, p, "a1", "b1")
				p.FlushAfter(0)
				time.Sleep(time.Millisecond)
				write(t, p, "k1")
				time.Sleep(time.Millisecond)
				go p.Withdraw(func(key string, _ *int) bool { return key == "k" })
				time.Sleep(time.Millisecond)
				p.admission.mu.Lock()
				inbox := len(p.admission.inbox)
				p.admission.mu.Unlock()
				assert.Equal(t, 1, inbox)
				go func() {
					next(p, h)
				}()
				time.Sleep(100 * time.Millisecond)
				if strings.HasPrefix(name, "the Accepted") {
					// the first call of the hook is for k1, before the commands
					p.config.Hooks.Accepted = func(n int) {
						p.config.Hooks.Accepted = func(int) { p.config.Hooks.Accepted = func(int) {}; runtime.Goexit() }
					}
				}
				h.Release()
				require.NoError(t, ignoreFailed(p.Flush(t.Context())))
				synctest.Wait()
				s := p.Stats()
				assert.Zero(t, s.Items)
				assert.EqualValues(t, 1, s.Withdrawn)
				assert.Equal(t, s.Accepted, s.Completed+s.Failed)
				_ = e
			})
		})
	}
}

func ignoreFailed(err error) error {
	if errors.As(err, new(*FlushError)) {
		return nil
	}
	return err
}

// A request that Close has abandoned returns, and a hook ends the goroutine while Close reports: the reply must not
// be read.
func TestAReplyThatComesAfterCloseHasLeftItIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := map[string][]Outcome{}
		exited := false
		s := &service{answer: func(b *Batch[int]) Reply[int] {
			time.Sleep(1500 * time.Millisecond) // ignores its context
			return applied(b)
		}}
		p, _ := start(t, s, func(c *Config[int, int]) {
			c.Hooks.Settled = func(s *Settlement[int, int], _ error) {
				ended[s.Item.Key] = append(ended[s.Item.Key], s.Outcome)
				if !exited {
					exited = true
					time.Sleep(time.Second) // for example a dead letter
					runtime.Goexit()        // as FailNow does
				}
			}
		})
		add(t, p, 3)
		p.FlushAfter(0)
		time.Sleep(time.Millisecond)
		done, cancel := withEnded(t)
		defer cancel()
		err := p.Close(done)
		t.Log(err)
		for key, outcomes := range ended {
			assert.Equal(t, []Outcome{Unsent}, outcomes, key)
		}
		assert.Len(t, ended, 3)
	})
}

// shutGate lets nothing through.
type shutGate struct{}

func (shutGate) Early(bool)            {}
func (shutGate) Enter() (Permit, bool) { return nil, false }
func (shutGate) State() GateState      { return GateState{Shut: ErrShut, Blocked: true} }

// A hook calls Purge and ends the goroutine while Close reports what it gives up: these items must not be purged too.
func TestWhatCloseHasGivenUpIsNotPurged(t *testing.T) {
	for _, most := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			var p *Publisher[int, int]
			ended := map[string][]Outcome{}
			p, _ = start(t, &service{answer: applied}, func(c *Config[int, int]) {
				c.Gate, c.Overload.Purged = shutGate{}, func([]string) {}
				c.Hooks.Settled = func(s *Settlement[int, int], _ error) {
					ended[s.Item.Key] = append(ended[s.Item.Key], s.Outcome)
					if len(ended) == 1 {
						p.Purge(t.Context(), most, 0)
						runtime.Goexit()
					}
				}
			})
			add(t, p, 3)
			p.FlushAfter(0)
			synctest.Wait()
			done, cancel := withEnded(t)
			defer cancel()
			require.Error(t, p.Close(done))
			assert.Equal(t, map[string][]Outcome{"k0": {Unsent}, "k1": {Unsent}, "k2": {Unsent}}, ended)
			s := p.Stats()
			assert.EqualValues(t, 3, s.Unsent)
			assert.Zero(t, s.Failed)
			assert.Zero(t, s.Items)
		})
	}
}
