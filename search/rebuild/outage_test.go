package rebuild

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

var errAway = errors.New("the database system is starting up")

// away is a database that is sometimes unavailable. It holds both the store and the source.
type away struct {
	Store
	is *atomic.Bool
}

func (a away) err() error {
	if a.is.Load() {
		return errAway
	}
	return nil
}

func (a away) Load(ctx context.Context) (Record, error) {
	if err := a.err(); err != nil {
		return Record{}, err
	}
	return a.Store.Load(ctx)
}

func (a away) Swap(ctx context.Context, next Record) (Record, error) {
	if err := a.err(); err != nil {
		return Record{}, err
	}
	return a.Store.Swap(ctx, next)
}

func (a away) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	if err := a.err(); err != nil {
		return nil, err
	}
	return a.Store.Marked(ctx, last, limit)
}

func (a away) Unmark(ctx context.Context, last int64, keys []string) error {
	if err := a.err(); err != nil {
		return err
	}
	return a.Store.Unmark(ctx, last, keys)
}

func (a away) fill(f Fill) Fill {
	return Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for x, err := range f.All(ctx, after) {
					if err == nil {
						err = a.err()
					}
					if !yield(x, err) || err != nil {
						return
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			if err := a.err(); err != nil {
				return nil, err
			}
			return f.Keys(ctx, keys)
		},
	}
}

// shaky returns a runner and a switch that makes its database unavailable.
func (w *world) shaky(opts Options) (*mortal, *atomic.Bool) {
	m, is := w.runner(opts), new(atomic.Bool)
	a := away{Store: m.r.store, is: is}
	m.r.store, m.r.fill = a, a.fill(m.r.fill)
	return m, is
}

func TestADatabaseThatIsAwayForSomeSecondsEndsNoRebuild(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	ends, step := false, 1
	if testing.Short() {
		step = 7
	}
	for n := 0; !ends; n += step {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 700)
			w.pace = 100
			a := w.write("a", 1)
			m, away := w.shaky(Options{Writers: []string{"a"}})
			line, passed := "", 0
			m.r.line = func(l string) error {
				if passed++; passed == n+1 {
					line = l
					away.Store(true)
					time.AfterFunc(15*time.Second, func() { away.Store(false) })
				}
				return nil
			}
			err := m.run(t.Context())
			ends = line == ""
			if line == string(StepFilling) { // before the first document, a failure would look like a mistake in Fill
				require.ErrorIs(t, err, errAway)
				time.Sleep(15 * time.Second)
				err = m.run(t.Context())
			}
			require.NoError(t, err, line)
			assert.Equal(t, newIndex, w.record().Route, line)
			time.Sleep(20 * time.Second)
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

func TestAFillWhoseTruthBreaksOffGoesOnBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 900)
		m, away := w.shaky(Options{})
		var from []string
		all, came := m.r.fill.All, 0
		m.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			from = append(from, after)
			return func(yield func(models.RawAction, error) bool) {
				for x, err := range all(ctx, after) {
					if came++; came == 300 {
						away.Store(true)
						time.AfterFunc(time.Second, func() { away.Store(false) })
					}
					if !yield(x, err) {
						return
					}
				}
			}
		}
		require.NoError(t, m.run(t.Context()))
		assert.Equal(t, int64(900), m.r.report.Filled, "no document is read twice")
		require.Greater(t, len(from), 1)
		for _, after := range from[1:] {
			assert.Equal(t, "k299", after)
		}
		w.checkTruth(newIndex)
	})
}

func TestATruthThatIsGoneEndsARebuildInHalfAMinuteAndThatIsWrongAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		rows int
		took time.Duration
	}{
		"never came":                 {0, 0},
		"away after some":            {300, outage},
		"breaks off again and again": {-1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 900)
				m, away := w.shaky(Options{})
				all, asked := m.r.fill.All, 0
				var failing time.Time
				m.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
					asked++
					return func(yield func(models.RawAction, error) bool) {
						came := 0
						for x, err := range all(ctx, after) {
							if tc.rows < 0 && came == 10 {
								yield(x, errAway)
								return
							}
							if came++; tc.rows >= 0 && came == tc.rows+1 && failing.IsZero() {
								failing = time.Now()
								away.Store(true)
								err = errAway
							}
							if !yield(x, err) || err != nil {
								return
							}
						}
					}
				}
				err := m.run(t.Context())
				require.ErrorIs(t, err, errAway)
				assert.ErrorContains(t, err, "Fill.All")
				if tc.rows < 0 {
					assert.Equal(t, mostBreaks+1, asked)
					assert.Empty(t, w.record().Owner, "the sender never got any")
					return
				}
				assert.InDelta(t, tc.took.Seconds(), time.Since(failing).Seconds(), 5)
			})
		})
	}
}

func TestATruthThatHasRunOutOfTimeIsNotThatDocumentsAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 200)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		keys, asked := m.r.fill.Keys, 0
		m.r.fill.Keys = func(ctx context.Context, of []string) ([]models.RawAction, error) {
			if asked++; asked == 1 {
				a.end() // nothing else marks the keys again
				<-ctx.Done()
				return nil, nil
			}
			return keys(ctx, of)
		}
		require.ErrorIs(t, m.run(t.Context()), context.DeadlineExceeded)
		require.NoError(t, m.run(t.Context()))
		require.Greater(t, asked, 1)
		w.checkTruth(newIndex)
	})
}

// While the alias is moved writers confirm nothing without Run, so Run neither gives up nor waits.
func TestOnceTheAliasHasMovedRunBearsWhatPasses(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(m *mortal){
		"too much to bring over in a second": func(m *mortal) {
			keys, n := m.r.fill.Keys, 0
			m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
				if m.r.now().Step == stepMoving && n < 8 {
					n++
					if err := sleep.For(ctx, time.Second); err != nil {
						return nil, err
					}
				}
				return keys(ctx, all)
			}
		},
		"the truth cannot be read for a while": func(m *mortal) {
			keys, n := m.r.fill.Keys, 0
			m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
				if m.r.now().Step == stepSettling && n < 20 {
					n++
					return nil, errors.New("the database is being moved")
				}
				return keys(ctx, all)
			}
		},
		"the new index is full when the writers come over": func(m *mortal) {
			made, n := m.r.opts.Sender, 0
			m.r.line = func(line string) error {
				if line == "close again" {
					time.Sleep(300 * time.Millisecond) // so that writers leave changes to transfer
				}
				return nil
			}
			m.r.opts.Sender = func(index string) (Sender, error) {
				s, err := made(index)
				return failing{s, func() error {
					if m.r.now().Step == stepMoving && n < 3 {
						n++
						return errors.New("the quota is used up")
					}
					return nil
				}}, err
			}
		},
		"the readers' index is unknown": func(m *mortal) {
			n := 0
			m.r.opts.Shown = func(context.Context) (bool, error) {
				if n++; n < 20 {
					return false, errors.New("503")
				}
				return true, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
				trouble(m)
				require.NoError(t, m.run(t.Context()))
				for _, closed := range m.r.report.Closed {
					assert.LessOrEqual(t, closed, closedLimit)
				}
				a.end()
				w.checkTruth(newIndex)
			})
		})
	}
}

func TestErrorsThatDoNotEndAreToldAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.pace = 300
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}, Settle: time.Hour})
		broken, keys := errors.New("there is no such table"), m.r.fill.Keys
		m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
			if m.r.now().Step == stepSettling {
				return nil, broken
			}
			return keys(ctx, all)
		}
		err := m.run(t.Context())
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		a.end()
		w.checkTruth(oldIndex)
	})
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }
