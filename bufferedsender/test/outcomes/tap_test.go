package outcomes

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

var errTap = errors.New("the tap cannot be read")

func TestASenderWhoseTapCannotBeReadSendsNothingAndFailsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := sendertest.New(t, &sendertest.Options{Tap: &sendertest.Tap{
			BeforeKeys: func([]string) error {
				if time.Since(began) < time.Hour {
					return errTap
				}
				return nil
			},
			ConfirmKeys: func([]string) (bool, error) { return false, nil },
		}})
		r.Upload(sendertest.Hotels("h", 3)...)
		time.Sleep(time.Hour - time.Second)
		assert.Empty(t, r.Requests())
		require.NoError(t, r.Flush())
		r.AllCompleted(3)
		assert.Len(t, r.Requests(), 1)
	})
}

// While a rebuild stops writers, the tap refuses; afterwards they continue.
func TestASenderGoesOnAtOnceWhenItsTapLetsItGo(t *testing.T) {
	for _, long := range []time.Duration{5 * time.Second, 12 * time.Second, 50 * time.Second, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			opts := sendertest.WithBreaker(t)
			opts.Tap = &sendertest.Tap{
				BeforeKeys: func([]string) error {
					if time.Since(began) < long {
						return errTap
					}
					return nil
				},
				ConfirmKeys: func([]string) (bool, error) { return false, nil },
			}
			r := sendertest.New(t, opts)
			r.Upload(sendertest.Hotels("h", 3)...)
			require.NoError(t, r.Flush())
			assert.LessOrEqual(t, time.Since(began), long+1100*time.Millisecond)
			r.AllCompleted(3)
		})
	}
}

// Each try sends the whole request again.
func TestWhatTheTapDoesNotConfirmIsSentAgainLessAndLessOften(t *testing.T) {
	for _, long := range []time.Duration{2 * time.Second, time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			log := &sendertest.Buffer{}
			r := sendertest.New(t, &sendertest.Options{Logger: slog.New(slog.NewTextHandler(log, nil)), Tap: &sendertest.Tap{
				BeforeKeys: func([]string) error { return nil },
				ConfirmKeys: func([]string) (bool, error) {
					if time.Since(began) < long {
						return false, errTap
					}
					return false, nil
				},
			}})
			r.Upload(sendertest.Hotels("h", 3)...)
			require.NoError(t, r.Flush())
			assert.LessOrEqual(t, time.Since(began), long+min(long, 30*time.Second)+1100*time.Millisecond)
			assert.Less(t, len(r.Requests()), 10+int(long/(10*time.Second)))
			assert.Contains(t, log.String(), errTap.Error())
			r.AllCompleted(3)
		})
	}
}

// Delays by the tap say nothing about the service: a later 503 counts as the first one.
func TestATapThatWasClosedLeavesNoSuspicionOfTheService(t *testing.T) {
	const long = time.Minute
	for name, confirms := range map[string]bool{"before": false, "confirm": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ask := func(asked bool) error {
					if asked && time.Since(began) < long {
						return errTap
					}
					return nil
				}
				opts := sendertest.WithBreaker(t)
				opts.Tap = &sendertest.Tap{
					BeforeKeys:  func([]string) error { return ask(!confirms) },
					ConfirmKeys: func([]string) (bool, error) { return false, ask(confirms) },
				}
				r := sendertest.New(t, opts)
				r.Upload(sendertest.Hotels("h", 3)...)
				time.Sleep(long - 500*time.Millisecond)
				busy := 0
				r.Respond(sendertest.When(func(int, *sendertest.Request) bool {
					if time.Since(began) >= long {
						busy++
					}
					return busy == 1
				}, sendertest.Always(503, sendertest.ErrorBody("busy"))))
				require.NoError(t, r.Flush())
				assert.Positive(t, busy)
				assert.Zero(t, r.Sender.Breaker().Status().Counts.Opened)
				r.AllCompleted(3)
			})
		})
	}
}

func TestWhatTheTapSendsAgainIsReportedOnceAndUsesNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked [][]string
		r := sendertest.New(t, &sendertest.Options{Tap: &sendertest.Tap{
			BeforeKeys: func([]string) error { return nil },
			ConfirmKeys: func(keys []string) (bool, error) {
				asked = append(asked, slices.Clone(keys))
				return len(asked) < 10, nil // four attempts are allowed
			},
		}})
		r.Upload(sendertest.Hotels("h", 2)...)
		require.NoError(t, r.Flush())
		r.AllCompleted(2)
		assert.Len(t, r.Requests(), 10)
		assert.Equal(t, slices.Repeat([][]string{{"h-0", "h-1"}}, 10), asked)
	})
}

func TestNothingIsCompletedBeforeTheTapHasConfirmedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		confirmed := false
		r := sendertest.New(t, &sendertest.Options{Tap: &sendertest.Tap{
			BeforeKeys: func([]string) error { return nil },
			ConfirmKeys: func([]string) (bool, error) {
				time.Sleep(10 * time.Second)
				confirmed = true
				return false, nil
			},
		}})
		r.Upload(sendertest.Hotels("h", 1)...)
		require.NoError(t, r.Flush())
		assert.True(t, confirmed)
		r.AllCompleted(1)
	})
}

// The log and Health must name the tap as the reason why nothing is sent.
func TestWhyTheTapKeepsDocumentsIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		again  bool
		err    error
		logged string
	}{
		"the tap cannot be read": {err: errTap, logged: `msg="azsearch: request failed; it will be retried".* error="the tap cannot be read"`},
		"the index was replaced": {again: true, logged: `msg="azsearch: documents will be retried".* first_error="applied to an index that was replaced`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, asked := &sendertest.Buffer{}, 0
				r := sendertest.New(t, &sendertest.Options{
					Logger: slog.New(slog.NewTextHandler(log, nil)),
					Tap: &sendertest.Tap{
						BeforeKeys: func([]string) error { return nil },
						ConfirmKeys: func([]string) (bool, error) {
							if asked++; asked > 3 {
								return false, nil
							}
							return tc.again, tc.err
						},
					},
				})
				r.Upload(sendertest.Hotels("h", 2)...)
				flushed := make(chan error)
				go func() { flushed <- r.Flush() }()
				for n := 0; tc.err != nil && r.Sender.Health().Err == nil && n < 1000; n++ {
					time.Sleep(10 * time.Millisecond) // the sender pauses between its attempts
				}
				assert.ErrorIs(t, r.Sender.Health().Err, tc.err)
				require.NoError(t, <-flushed)
				assert.Regexp(t, tc.logged, log.String())
				r.AllCompleted(2)
			})
		})
	}
}

func TestWhatComesFromAQueueIsAskedAboutToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, confirmed [][]string
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		r := sendertest.New(t, &sendertest.Options{Queue: q, Outage: bufferedsender.Hold{}, Tap: &sendertest.Tap{
			BeforeKeys: func(keys []string) error { before = append(before, slices.Clone(keys)); return nil },
			ConfirmKeys: func(keys []string) (bool, error) {
				confirmed = append(confirmed, slices.Clone(keys))
				return len(confirmed) == 1, nil
			},
		}})
		r.Upload(sendertest.Hotels("h", 1)...)
		require.NoError(t, r.Flush())
		r.AllCompleted(1)
		assert.Equal(t, slices.Repeat([][]string{{"h-0"}}, 2), before)
		assert.Equal(t, before, confirmed)
	})
}
