package sendertest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// CheckStats returns a snapshot of Stats, and checks the invariants of every snapshot. It is called at each event, so
// it avoids assertions by reflection, which would take a tenth of the time of all tests.
func (r *RigOf[D]) CheckStats() bufferedsender.Stats {
	if r.Sender == nil {
		return bufferedsender.Stats{}
	}
	s := r.Sender.Stats()
	if s.Accepted != s.Completed+s.Failed+s.Unsent+int64(s.PendingActions) {
		assert.Fail(r.T, "accepted = completed + failed + unsent + pending does not hold", "in %+v", s)
	}
	maxActions, maxBytes := r.opts.Limits.MaxBufferedActions, r.opts.Limits.MaxBufferedBytes
	if maxActions == 0 {
		maxActions = max(bufferedsender.DefaultMaxBufferedActions, 4*r.opts.Limits.MaxBatchActions)
	}
	if maxBytes == 0 {
		maxBytes = max(bufferedsender.DefaultMaxBufferedBytes, 4*int64(r.opts.Limits.MaxBatchBytes))
	}
	if s.PendingActions > maxActions || s.PendingBytes > maxBytes {
		assert.Fail(r.T, "over the high-water mark", "of %d actions and %d bytes in %+v", maxActions, maxBytes, s)
	}
	return s
}

// CheckAccounts checks that every accepted action has one outcome, and that Stats, events, metrics and the index agree.
// Call it after Close; a rig that is not Abandoned calls it at the end of the test.
func (r *RigOf[D]) CheckAccounts() {
	s := r.CheckStats()
	assert.Zero(r.T, s.PendingActions, "pending after Close")
	assert.Zero(r.T, s.PendingBytes, "bytes pending after Close")
	assert.Zero(r.T, s.InFlight, "requests after Close")
	assert.Zero(r.T, s.BlockedProducers, "producers waiting after Close")
	var completed, unsent, failed, sent int64
	added := map[string]int{}
	all := r.noted()
	for i := range all {
		e := &all[i]
		switch e.Kind {
		case "added":
			added[e.Key]++
		case "batch":
			if !errors.Is(e.Batch.Err, bufferedsender.ErrNotSent) {
				sent++
			}
		case "completed":
			completed++
		case "failed":
			if errors.Is(e.Err, bufferedsender.ErrClosed) {
				unsent++
			} else {
				failed++
			}
		}
		if e.Kind == "completed" || e.Kind == "failed" {
			if added[e.Key]--; added[e.Key] < 0 {
				assert.Fail(r.T, "more outcomes than actions", "of %s", e.Key)
			}
		}
	}
	assert.Equal(r.T, s.Completed, completed, "ActionCompleted events")
	assert.Equal(r.T, s.Failed, failed, "ActionFailed events")
	assert.Equal(r.T, s.Unsent, unsent, "ActionFailed events with ErrClosed")
	assert.Equal(r.T, s.Requests, sent, "BatchCompleted events")
	for i := range all {
		if r.answer != nil {
			break // an Answer may reply anything
		}
		if e := &all[i]; e.Kind == "completed" && len(r.Service.History("hotels", e.Key)) == 0 {
			assert.Fail(r.T, "reported as completed, but never written to the index", e.Key)
			break
		}
	}
	if sums := MetricSums(r.T, r.Metrics); sums != nil {
		assert.Equal(r.T, s.Accepted, sums["added"], "metric of accepted actions")
		assert.Equal(r.T, s.Completed+s.Failed+s.Unsent, sums["settled"], "metric of settled actions")
	}
}

// MetricSums returns the sums of a sender's item counters, by the last word of their names, such as "added". It returns
// nil if the reader belongs to no provider.
func MetricSums(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		return nil
	}
	sums := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name, ok := strings.CutPrefix(m.Name, "azsearch.sender.items.")
			if !ok {
				continue
			}
			data, isSum := m.Data.(metricdata.Sum[int64])
			require.True(t, isSum, m.Name)
			for _, p := range data.DataPoints {
				sums[name] += p.Value
			}
		}
	}
	return sums
}
