package breaker_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// openFor opens the breaker with r after an hour of trouble, and returns how long it stays open.
func openFor(t *testing.T, b *breaker.Breaker, r breaker.Result) time.Duration {
	t.Helper()
	b.Reset()
	request(t, b, fail)
	time.Sleep(time.Hour)
	if r.Outcome != breaker.Trip {
		request(t, b, fail)
	}
	request(t, b, r)
	require.Equal(t, breaker.Open, state(b))
	return time.Until(b.Status().Until)
}

// failures reports failures, with or without successes in between, until the breaker opens, at most ten, and returns
// their number.
func failures(t *testing.T, b *breaker.Breaker, apart time.Duration, succeeds int) int {
	t.Helper()
	b.Reset()
	for n := range 10 {
		request(t, b, fail)
		if state(b) != breaker.Closed {
			return n + 1
		}
		for range succeeds {
			request(t, b, succeed)
		}
		time.Sleep(apart)
	}
	return -1
}

// changeable needs a row for each field of Options; a test checks it.
var changeable = map[string]struct {
	options  breaker.Options // initial options of the breaker
	set      breaker.Options
	observe  func(t *testing.T, b *breaker.Breaker) any
	was, is  any
	unusable []breaker.Options
}{
	"Failures": {
		options: *breaker.Options{}.OpensInARow(-1), set: breaker.Options{Failures: 5},
		observe: func(t *testing.T, b *breaker.Breaker) any { return failures(t, b, 0, 1) },
		was:     3, is: 5,
	},
	"Window": {
		options: *breaker.Options{}.OpensInARow(-1), set: breaker.Options{Window: time.Minute},
		observe: func(t *testing.T, b *breaker.Breaker) any { return failures(t, b, 10*time.Second, 0) },
		was:     -1, is: 3,
		unusable: []breaker.Options{{Window: -1}},
	},
	"OpenFor": {
		options: breaker.Options{Jitter: -1}, set: breaker.Options{OpenFor: 7 * time.Second},
		observe: func(t *testing.T, b *breaker.Breaker) any {
			b.Reset()
			request(t, b, trip)
			return time.Until(b.Status().Until)
		},
		was: time.Second, is: 7 * time.Second,
		unusable: []breaker.Options{{OpenFor: time.Microsecond}, {OpenFor: -1}, {OpenFor: time.Minute}},
	},
	"MaxOpenFor": {
		options: breaker.Options{Jitter: -1}, set: breaker.Options{MaxOpenFor: 4 * time.Second},
		observe: func(t *testing.T, b *breaker.Breaker) any { return openFor(t, b, fail) },
		was:     30 * time.Second, is: 4 * time.Second,
		unusable: []breaker.Options{{MaxOpenFor: -1}, {MaxOpenFor: time.Millisecond}},
	},
	"Jitter": {
		options: breaker.Options{Jitter: 1}, set: breaker.Options{Jitter: -1},
		observe: func(t *testing.T, b *breaker.Breaker) any { return openFor(t, b, trip) < 30*time.Second },
		was:     true, is: false,
		unusable: []breaker.Options{{Jitter: 1.5}},
	},
}

func TestEveryOptionCanBeChangedWhileTheBreakerIsInUse(t *testing.T) {
	options := reflect.TypeFor[breaker.Options]()
	fields := slices.DeleteFunc(reflect.VisibleFields(options), func(f reflect.StructField) bool { return !f.IsExported() })
	require.Len(t, changeable, len(fields), "every option and nothing else can change")
	for _, f := range fields {
		name := f.Name
		c, known := changeable[name]
		require.True(t, known, "%s has no row in the table", name)
		field := func(o breaker.Options) any { return reflect.ValueOf(o).FieldByIndex(f.Index).Interface() }
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &c.options)
				defer b.Reset() // its timer
				before := b.Options()
				require.NotEqual(t, field(c.set), field(before))
				require.Equal(t, c.was, c.observe(t, b), "before")

				for _, bad := range c.unusable {
					old, err := b.SetOptions(bad)
					require.ErrorContains(t, err, name)
					assert.Equal(t, before, old)
					assert.Equal(t, before, b.Options(), "no option has changed")
				}
				require.Equal(t, c.was, c.observe(t, b), "invalid options have changed something")

				old, err := b.SetOptions(c.set)
				require.NoError(t, err)
				assert.Equal(t, before, old)
				want := before
				reflect.ValueOf(&want).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(c.set).FieldByIndex(f.Index))
				assert.Equal(t, want, b.Options(), "only this option has changed")
				assert.Equal(t, c.is, c.observe(t, b), "afterwards")

				_, err = b.SetOptions(old)
				require.NoError(t, err)
				assert.Equal(t, before, b.Options(), "the old ones undo it")
				assert.Equal(t, c.was, c.observe(t, b), "the option has its old value again")
			})
		})
	}
}

func TestSetOptionsNamesEveryProblemAndChangesNothing(t *testing.T) {
	b := newBreaker(t, nil)
	before := b.Options()
	_, err := b.SetOptions(breaker.Options{Failures: 7, Window: -1, Jitter: 2})
	require.ErrorContains(t, err, "breaker: Window is -1ns")
	require.ErrorContains(t, err, "Jitter is 2")
	assert.Equal(t, before, b.Options())
}

func TestSetOptionsKeepsWhatTheBreakerKnows(t *testing.T) {
	t.Run("the failures in the window, which open nothing by themselves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, breaker.Options{Failures: 6}.OpensInARow(-1))
			for range 5 {
				request(t, b, fail)
			}
			_, err := b.SetOptions(breaker.Options{Failures: 3})
			require.NoError(t, err)
			assert.Equal(t, breaker.Closed, state(b))
			request(t, b, fail)
			assert.Equal(t, breaker.Open, state(b))
			b.Reset()
		})
	})
	// If the window shrinks from five results to three, it must not judge by five.
	t.Run("at most count failures are kept", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, breaker.Options{Failures: 6, Window: time.Hour}.OpensInARow(-1))
			request(t, b, fail)
			request(t, b, fail)
			for range 20 { // 20 of the results since then
				request(t, b, succeed)
			}
			request(t, b, fail)
			request(t, b, fail)
			_, err := b.SetOptions(breaker.Options{Failures: 3})
			require.NoError(t, err)
			request(t, b, fail)
			assert.Equal(t, breaker.Open, state(b), "the last three failures were in a row")
			b.Reset()
		})
	})
	t.Run("the breaker is disabled", func(t *testing.T) {
		b := newBreaker(t, nil)
		b.Disable()
		_, err := b.SetOptions(breaker.Options{Failures: 1})
		require.NoError(t, err)
		refuses(t, b)
		assert.Equal(t, breaker.Disabled, state(b))
		b.Enable()
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b), "the breaker opens with the new options")
		b.Reset()
	})
	t.Run("the end of the open state and the probe stay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, steady())
			var heard recorder
			request(t, b, trip)
			b.Subscribe(heard.hear)
			until := b.Status().Until
			_, err := b.SetOptions(breaker.Options{OpenFor: time.Second, MaxOpenFor: time.Second})
			require.NoError(t, err)
			assert.Equal(t, until, b.Status().Until)
			assert.Empty(t, heard.heard(), "the state has not changed")
			time.Sleep(30 * time.Second)
			probe := allow(t, b)
			_, err = b.SetOptions(breaker.Options{Failures: 9})
			require.NoError(t, err)
			probe.Done(fail)
			assert.Equal(t, time.Second, time.Until(b.Status().Until), "the next opening lasts a second")
			b.Reset()
		})
	})
}

func TestOptionsChangeWhileTheBreakerIsUsedConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		for range 4 {
			go func() {
				for i := range 50 {
					if p, err := b.Allow(); err == nil {
						p.Done([]breaker.Result{fail, succeed}[i%2])
					}
					_, err := b.SetOptions(breaker.Options{Failures: i + 1, Window: time.Duration(i + 1), OpenFor: time.Millisecond, MaxOpenFor: time.Hour})
					assert.NoError(t, err)
					assert.Equal(t, time.Hour, b.Options().MaxOpenFor)
				}
			}()
		}
		synctest.Wait()
		b.Reset()
	})
}
