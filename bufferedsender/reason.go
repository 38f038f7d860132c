package bufferedsender

import (
	"context"
	"errors"
	"net/http"

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
	}
	return reasonOfStatus(status, err != nil, s.Exhausted)
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
