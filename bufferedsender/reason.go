package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// reasonOf returns the cause of an action that was not completed.
func reasonOf(s *settlement) models.Reason {
	status, err := s.Result.Value.StatusCode, s.Result.Err
	switch {
	case s.Outcome == publisher.Unsent:
		return models.ReasonClosed
	case s.Purged:
		return models.ReasonPurged
	case s.Withdrawn:
		return models.ReasonWithdrawn
	case s.Index:
		return models.ReasonIndex
	case s.Result.Throttled:
		return models.ReasonBusy
	case errors.As(err, new(retry.UnsentError)):
		return models.ReasonCredentials
	case errors.Is(err, publisher.ErrNoResult), errors.Is(err, ErrNoResult):
		return models.ReasonNoResult
	case retry.IsForeign(err) && retry.ForRequest(status).Verdict != retry.Retry && status != http.StatusRequestEntityTooLarge:
		return models.ReasonGateway
	case full(status, s.Result.Value.ErrorMessage, err):
		return models.ReasonQuota
	}
	return reasonOfStatus(status, err != nil, s.Exhausted)
}

// full reports whether an answer to a request (err) or to one document says that a quota of storage is used up. Its
// status is then one that otherwise concerns the credentials, or a failure of the service.
func full(status int, message string, err error) bool {
	if err != nil {
		message = messageOf(err)
	}
	return (status == http.StatusForbidden || status == http.StatusInsufficientStorage) && strings.Contains(strings.ToLower(message), "quota")
}

// reasonOfStatus is reasonOf for an answer to the whole request or to one document. It handles statuses with a meaning
// of their own; package retry classifies all others.
func reasonOfStatus(status int, whole, exhausted bool) models.Reason {
	decision := retry.ForDocument(status)
	if whole {
		decision = retry.ForRequest(status)
	}
	switch {
	case status == 0 && !exhausted:
		return models.ReasonClient
	case status == 0:
		return models.ReasonUnreachable
	case status == http.StatusRequestEntityTooLarge:
		return models.ReasonTooLarge
	case status == http.StatusTooManyRequests && !whole:
		return models.ReasonQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return models.ReasonCredentials
	case status == http.StatusNotFound && !whole:
		return models.ReasonMissingDocument
	case retry.Throttles(status):
		return models.ReasonBusy
	case decision.Unknown:
		return models.ReasonUnreachable
	case decision.Verdict == retry.Retry:
		return models.ReasonConflict
	case whole && decision.Verdict != retry.Split:
		return models.ReasonNoIndex
	}
	return models.ReasonDocument
}

// pingOf returns the Ping of an Indexer that has one, or nil.
func pingOf(indexer Indexer) func(context.Context) error {
	if p, ok := indexer.(models.Pinger); ok {
		return p.Ping
	}
	return nil
}

// code names foreign code that a sender calls: a handler, or an option that is a function or interface.
type code uint32

const (
	inOthers code = iota // code without a guard of its own
	inActionSent
	inActionCompleted
	inActionFailed
	inBatchCompleted
	inHealthChanged
	inClosed
	inOnOutcome
	inOnPurged
	inDeadLetters
	inWithdraw
	inTuning
	inLogger
	inMeterProvider
)

var namesOfCode = [...]string{
	"a callback, or a subscriber of the breaker", events.KindActionSent.String(), events.KindActionCompleted.String(),
	events.KindActionFailed.String(), events.KindBatchCompleted.String(), events.KindHealthChanged.String(),
	"Closed", "OnOutcome", "OnPurged", "DeadLetters", "Withdraw", "Tuning", "Logger", "MeterProvider",
}

// String returns the name used in logs and in Health.
func (c code) String() string { return namesOfCode[c] }

// guard calls a handler on the publisher goroutine and contains its panic. Health names the handler while it runs.
func (o *observer) guard(handler code, call func()) {
	o.in.Store(uint32(handler))
	defer o.in.Store(uint32(inOthers))
	o.guardElsewhere(handler, call)
}

// guardElsewhere is guard for other goroutines; Health does not name the handler.
func (o *observer) guardElsewhere(handler code, call func()) {
	defer o.contain(handler.String())
	call()
}

// contain must be deferred around foreign code.
func (o *observer) contain(handler string) {
	if v := recover(); v != nil {
		o.panicked(handler, v)
	}
}

func (o *observer) panicked(handler string, v any) {
	o.panics.Add(1)
	stack := string(debug.Stack())
	defer func() { _ = recover() }() // the panic of a logger or meter is already counted above
	o.telemetry.callbackPanicked()
	o.logger.Error("azsearch: handler panicked", "handler", handler, "panic", fmt.Sprint(v), "stack", stack)
}
