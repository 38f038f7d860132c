package telemetry

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// stage is the state of a breaker in which a sender is watched.
type stage string

const (
	opened  stage = "open"
	waiting stage = "half-open"
	probing stage = "half-open, with a probe that hangs"
)

// heldSender is a sender with two breakers, as in a fleet. The one of the service or that of the index has opened
// because the service cannot be reached.
type heldSender struct {
	*sendertest.Rig
	service, full bool
	stage         stage
}

func newHeldSender(t *testing.T, service, full bool, at stage) heldSender {
	t.Helper()
	own, whole := sendertest.SteadyBreaker(t, nil), sendertest.SteadyBreaker(t, nil)
	s := heldSender{sendertest.New(t, &sendertest.Options{
		Waiting: bufferedsender.Waiting{FailFast: true}, Retry: sendertest.RetryAtOnce,
		Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2},
		Outage: bufferedsender.Hold{Breaker: own, Service: whole},
	}), service, full, at}
	opens := own
	if service {
		opens = whole
	}
	s.Respond(sendertest.Hang)
	permit, err := opens.Allow()
	require.NoError(t, err)
	permit.Done(breaker.Result{Outcome: breaker.Trip, Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}})
	if full {
		s.Upload(sendertest.Hotels("waits", 2)...)
	}
	synctest.Wait()
	if at != opened {
		time.Sleep(31 * time.Second)
	}
	if at == probing && !full {
		go func() { _, _ = s.call("probe") }()
		time.Sleep(time.Second)
	}
	synctest.Wait()
	return s
}

// call returns how long a waiting call of one document took.
func (s heldSender) call(key string) (took time.Duration, err error) {
	began := s.Now()
	_, err = s.Sender.IndexDocumentsAndWait(sendertest.Within(s.T, time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
	return s.Now() - began, err
}

// lines returns the log lines of these levels, without those about single requests.
func (s heldSender) lines(levels ...string) (found []string) {
	for line := range strings.Lines(s.Logs.String()) {
		for _, level := range levels {
			if strings.Contains(line, "level="+level) && strings.Contains(line, "ending") {
				found = append(found, line)
			}
		}
	}
	return found
}

// saysWhich checks that a text names the breaker of the service, or does not if it is the one of the index.
func (s heldSender) saysWhich(text, name string) {
	s.T.Helper()
	assert.Equal(s.T, s.service, strings.Contains(text, name), "%q", text)
}

// A sender of a fleet has two breakers. Whichever holds it, and whether or not something waits, health, log lines,
// metrics, FailFast and Close say the same, and name the breaker.
func TestWhicheverBreakerHoldsSendingAllSaySo(t *testing.T) {
	for _, service := range []bool{false, true} {
		for _, full := range []bool{false, true} {
			for _, at := range []stage{opened, waiting, probing} {
				if full && at == waiting {
					continue // what waits becomes the probe
				}
				t.Run(fmt.Sprintf("service %v, buffer full %v, %s", service, full, at), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newHeldSender(t, service, full, at)
						s.checkReports(t)
						s.checkCall(t)
						s.checkClose(t)
					})
				})
			}
		}
	}
}

func (s heldSender) checkReports(t *testing.T) {
	t.Helper()
	h, state, gauge := s.Health(), events.HealthStateCircuitOpen, 2.
	if s.stage != opened {
		gauge = 1
	}
	if s.stage == waiting {
		state = events.HealthStateHalfOpen
	}
	assert.Equal(t, state, h.State)
	require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
	s.saysWhich(h.Reason, "the service as a whole")
	assert.Equal(t, s.stage == waiting, h.Ready() == nil, "traffic may come if it can be the probe")

	values := readMetrics(t, s.Metrics)
	assert.InDelta(t, gauge, values["breaker.state"], 0)
	assert.InDelta(t, 1, values["health.state{health="+strings.NewReplacer(" ", "_", "-", "_").Replace(state.String())+"}"], 0)
	assert.Equal(t, s.service, values["breaker.changes{state=open}"] == 0, "only those of the breaker of the index")

	warnings := s.lines("WARN")
	if assert.Len(t, warnings, 1, "one line for one suspension") {
		assert.Contains(t, warnings[0], "azsearch: sending suspended except for probes")
		assert.Contains(t, warnings[0], "connection refused")
		s.saysWhich(warnings[0], "breaker=service")
	}
}

func (s heldSender) checkCall(t *testing.T) {
	t.Helper()
	if s.stage != waiting {
		took, err := s.call("late")
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		s.saysWhich(err.Error(), "the service as a whole")
		assert.Zero(t, took)
		return
	}
	s.Respond(nil)
	_, err := s.call("probe")
	require.NoError(t, err)
	_, err = s.call("next")
	require.NoError(t, err)
	assert.Equal(t, events.HealthStateHealthy, s.Health().State)
	assert.Zero(t, readMetrics(t, s.Metrics)["breaker.state"])
	if resumed := s.lines("INFO"); assert.Len(t, resumed, 1) {
		assert.Contains(t, resumed[0], "azsearch: sending resumed")
	}
}

func (s heldSender) checkClose(t *testing.T) {
	t.Helper()
	began := s.Now()
	err := s.Sender.Close(sendertest.Within(t, 5*time.Second))
	if s.stage == waiting || !s.full && s.stage == opened {
		require.NoError(t, err)
		assert.Zero(t, s.Now()-began, "nothing waits")
		return
	}
	assert.Equal(t, 5*time.Second, s.Now()-began)
	closed := sendertest.CloseError(t, err)
	require.ErrorIs(t, closed.Held, bufferedsender.ErrCircuitOpen)
	s.saysWhich(closed.Held.Error(), "the service as a whole")
	unsent, unknown := 0, 0
	if s.full {
		unsent = 2
	}
	if s.stage == probing {
		unsent, unknown = max(unsent-1, 0), 1
	}
	assert.Equal(t, unsent, closed.Unsent)
	assert.Equal(t, unknown, closed.Unknown)
	warnings := s.lines("WARN")
	if assert.Len(t, warnings, 2) {
		assert.Contains(t, warnings[1], "azsearch: Close waiting: sending suspended")
		s.saysWhich(warnings[1], "breaker=service")
	}
	stats := s.Sender.Stats()
	assert.Equal(t, stats.Accepted, stats.Completed+stats.Failed+stats.Unsent)
}

// The breaker of the service has opened because other indexes fail. That says nothing about this one.
func TestASenderThatIsWellIsReadyAndSendsWhileOthersHoldTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{
			Waiting: bufferedsender.Waiting{FailFast: true}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), Service: whole},
		})
		s := heldSender{Rig: r}
		permit, err := whole.Allow()
		require.NoError(t, err)
		permit.Done(breaker.Result{Outcome: breaker.Trip, Err: sendertest.StatusError(503)})
		h := r.Health()
		assert.Equal(t, events.HealthStateHalfOpen, h.State)
		require.NoError(t, h.Ready())
		assert.Empty(t, s.lines("WARN"))
		took, err := s.call("k")
		require.NoError(t, err)
		assert.Less(t, took, time.Second)
		assert.Equal(t, breaker.Closed, whole.Status().State)
	})
}
