package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestAnswerSaysOfEachNoteWhatBecameOfIt(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	open := &breaker.OpenError{Status: breaker.Status{State: breaker.Open, Until: now.Add(6500 * time.Millisecond)}}
	withdrawn := func(key string, unknown bool) *bufferedsender.ActionError {
		return &bufferedsender.ActionError{Key: key, Reason: models.ReasonWithdrawn, Unknown: unknown, Err: bufferedsender.ErrWithdrawn}
	}
	because := func(key string, reason models.Reason, unknown bool) *bufferedsender.ActionError {
		return &bufferedsender.ActionError{Key: key, Reason: reason, Unknown: unknown, Message: "the service gives the reason"}
	}
	type errs = []*bufferedsender.ActionError
	for name, c := range map[string]struct {
		accepted   int
		err        error
		status     int
		retryAfter time.Duration
		a, b       string
	}{
		"all are applied": {2, nil, 200, 0, indexed, indexed},
		"one is rejected": {2, &bufferedsender.WaitError{Failed: 1, Errors: errs{because("b", models.ReasonDocument, false)}}, 422, 0, indexed, rejected},
		"one is rejected and may have been applied": {2, &bufferedsender.WaitError{Failed: 1, Errors: errs{because("b", models.ReasonDocument, true)}}, 422, 0, indexed, unknown},
		"one conflicts forever":                     {2, &bufferedsender.WaitError{Failed: 1, Errors: errs{because("a", models.ReasonConflict, false)}}, 503, time.Second, notApplied, indexed},
		"one kills the service":                     {2, &bufferedsender.WaitError{Failed: 1, Errors: errs{because("a", models.ReasonUnreachable, true)}}, 503, time.Second, unknown, indexed},
		"nothing is sent":                           {0, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Err: open}}, 503, 7 * time.Second, notApplied, notApplied},
		"sending stops while they wait":             {2, &bufferedsender.WaitError{Withdrawn: 1, Unknown: 1, Errors: errs{withdrawn("a", false), withdrawn("b", true)}, Err: open}, 503, 7 * time.Second, notApplied, unknown},
		"the sender is paused":                      {0, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Err: bufferedsender.ErrPaused}}, 503, 10 * time.Second, notApplied, notApplied},
		"the sender is closed":                      {0, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Err: bufferedsender.ErrClosed}}, 503, time.Second, notApplied, notApplied},
		"no room until the deadline":                {0, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Err: context.DeadlineExceeded}}, 429, time.Second, notApplied, notApplied},
		"room for one, then the deadline":           {1, &bufferedsender.WaitError{Unknown: 1, Errors: errs{withdrawn("a", true)}, Err: errors.Join(&bufferedsender.AddError{Accepted: 1, Err: context.DeadlineExceeded}, context.DeadlineExceeded)}, 429, time.Second, unknown, notApplied},
		"the deadline":                              {2, &bufferedsender.WaitError{Withdrawn: 1, Unknown: 1, Errors: errs{withdrawn("a", true), withdrawn("b", false)}, Err: context.DeadlineExceeded}, 504, time.Second, unknown, notApplied},
		"one is applied, then the deadline":         {2, &bufferedsender.WaitError{Withdrawn: 1, Errors: errs{withdrawn("b", false)}, Err: context.DeadlineExceeded}, 504, time.Second, indexed, notApplied},
		"the second is refused by the sender":       {1, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Accepted: 1, Err: bufferedsender.ErrDocumentTooLarge}}, 400, 0, indexed, notApplied},
		"the second is refused, the first fails":    {1, &bufferedsender.WaitError{Failed: 1, Errors: errs{because("a", models.ReasonDocument, false)}, Err: &bufferedsender.AddError{Accepted: 1, Err: bufferedsender.ErrDocumentTooLarge}}, 422, 0, rejected, notApplied},
	} {
		t.Run(name, func(t *testing.T) {
			a := answerTo([]Note{{ID: "a"}, {ID: "b"}}, make([]models.IndexingResult, c.accepted), c.err, now)
			assert.Equal(t, c.status, a.Status)
			assert.Equal(t, c.retryAfter, a.retryAfter)
			assert.Equal(t, []string{c.a, c.b}, []string{a.Notes[0].Outcome, a.Notes[1].Outcome})
		})
	}
}

func TestComparisonFindsWhatWasReportedWrongly(t *testing.T) {
	l := newLedger()
	notes := []Note{{ID: "indexed", Text: "x"}, {ID: "rejected"}, {ID: "not"}, {ID: "perhaps"}}
	l.add(422, notes, answer{Notes: []outcome{{ID: "indexed", Outcome: indexed}, {ID: "rejected", Outcome: rejected}, {ID: "not", Outcome: notApplied}, {ID: "perhaps", Outcome: unknown}}})
	for name, c := range map[string]struct {
		has            map[string]Note
		missing, wrong int
	}{
		"all is as it was reported": {map[string]Note{"indexed": {Text: "x"}, "another": {}}, 0, 0},
		"unknown may be there":      {map[string]Note{"indexed": {Text: "x"}, "perhaps": {}}, 0, 0},
		"indexed is missing":        {nil, 1, 0},
		"indexed is another text":   {map[string]Note{"indexed": {Text: "y"}}, 1, 0},
		"rejected is there":         {map[string]Note{"indexed": {Text: "x"}, "rejected": {}}, 0, 1},
		"unapplied notes are, too":  {map[string]Note{"indexed": {Text: "x"}, "rejected": {}, "not": {}}, 0, 2},
	} {
		missing, wrong := l.differences(c.has)
		assert.Equal(t, []int{c.missing, c.wrong}, []int{missing, wrong}, name)
	}
	assert.Empty(t, l.problems)
	l.add(200, notes[:1], answer{Notes: []outcome{{ID: "indexed", Outcome: unknown}}})
	assert.Len(t, l.problems, 1, "status 200 promises more")
	l.add(503, notes[:1], answer{})
	assert.Len(t, l.problems, 2, "the note has no result")
}

// The demonstration compares replies and index, and requires each kind of reply.
func TestCallersGetTrueAnswersThroughAnOutage(t *testing.T) {
	stagetest.Succeeds(t, program, nil, `Reported "indexed" and missing: 0. Reported "rejected" or "not applied" and present: 0.`)
	assert.Equal(t, stage.ExitProblem, stagetest.Run(t.Context(), t, program, "-endpoint", "", "-addr", "256.0.0.1:x").Code)
}

func TestIndexThatIsThereStaysAsItIs(t *testing.T) {
	stagetest.LeavesIndexAlone(t, func(flags ...string) {
		o := stagetest.Run(t.Context(), t, program, append(flags, "-addr", "256.0.0.1:x")...)
		assert.Contains(t, o.Err, "listen tcp", "the sample has opened the index")
	})
}
