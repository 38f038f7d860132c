package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// IndexingError means that the service replied, but did not index all documents. It indexed the others.
type IndexingError struct {
	// Failed has one entry for each action not known to be applied, and one for each key in the reply that was not in the
	// batch, with the status and the message of the service. StatusCode is 0 for an action that may have been applied: the
	// reply has no result for it, or several successes.
	Failed []models.IndexingResult
	// Actions is the number of actions that were sent.
	Actions int

	// Operation is the name of the operation, for example "UploadDocuments".
	Operation string
	// IndexName is the index.
	IndexName string
	// RequestID is the service's id of the request.
	RequestID string
}

// Error returns the number of failures and the first five documents.
func (e *IndexingError) Error() string {
	var b strings.Builder
	strange := 0
	for i := range e.Failed {
		if e.Failed[i].ErrorMessage == strangeResult {
			strange++
		}
	}
	fmt.Fprintf(&b, "%d of %d documents were not indexed", min(len(e.Failed)-strange, e.Actions), e.Actions)
	if strange > 0 || len(e.Failed) > e.Actions {
		b.WriteString(", and the reply has results of documents that were not sent")
	}
	b.WriteString(": " + firstFew(e.Failed, describe))
	fmt.Fprintf(&b, " (%s", call{operation: e.Operation, index: e.IndexName})
	if e.RequestID != "" {
		b.WriteString(", request id " + e.RequestID)
	}
	b.WriteByte(')')
	return b.String()
}

// describe returns the outcome of one document as text.
func describe(r models.IndexingResult) string {
	message := shown(r.ErrorMessage)
	switch {
	case r.StatusCode != 0 && message != "":
		return fmt.Sprintf("key %q: %d %s", r.Key, r.StatusCode, message)
	case r.StatusCode != 0:
		return fmt.Sprintf("key %q: %d", r.Key, r.StatusCode)
	}
	return fmt.Sprintf("key %q: %s", r.Key, message)
}

// Messages of entries that the reply does not explain.
const (
	noResult       = "the reply says nothing about this document"
	severalResults = "the reply has several results for this document"
	strangeResult  = "the reply has a result for this document, which was not sent"
)

// applied reports whether a result is a success by all of its members.
func applied(r *models.IndexingResult) bool {
	return r.Succeeded && r.StatusCode >= 200 && r.StatusCode <= 299 && r.ErrorMessage == ""
}

// failures returns all actions that must not be taken for indexed: every result that is not a success, every action
// without a result or with several, and every result of a key that was not sent. Results pair with actions by key, as
// often as the key was sent: more results of a key add no entries. If keys is nil, the keys are unknown.
func failures(actions int, keys []string, results []models.IndexingResult) []models.IndexingResult {
	if keys == nil {
		return failuresOfUnknown(actions, results)
	}
	var failed []models.IndexingResult
	var sent map[string]int
	listed := map[string]int{}
	for i := range results {
		if applied(&results[i]) {
			continue
		}
		key := results[i].Key
		if sent == nil {
			sent = numbers(keys)
		}
		if listed[key] < max(sent[key], 1) {
			failed = append(failed, results[i])
			listed[key]++
		}
	}
	answered := make(map[string]int, len(results))
	for i := range results {
		answered[results[i].Key]++
	}
	for _, key := range keys {
		answered[key]--
		if answered[key] < 0 {
			failed = append(failed, models.IndexingResult{Key: key, ErrorMessage: noResult})
		}
	}
	for i := range results {
		if key := results[i].Key; answered[key] > 0 && listed[key] == 0 {
			again := models.IndexingResult{Key: key, ErrorMessage: strangeResult}
			if slices.Contains(keys, key) {
				again.ErrorMessage = severalResults
			}
			failed, answered[key] = append(failed, again), 0
		}
	}
	return failed
}

// numbers returns how often each key occurs.
func numbers(keys []string) map[string]int {
	n := make(map[string]int, len(keys))
	for _, key := range keys {
		n[key]++
	}
	return n
}

// failuresOfUnknown is failures for actions whose keys are unknown. If there are more results than actions, the first
// are taken for those of the actions.
func failuresOfUnknown(actions int, results []models.IndexingResult) (failed []models.IndexingResult) {
	known, listed := map[string]bool{}, map[string]bool{}
	for i, r := range results {
		surplus := i >= actions
		switch {
		case surplus && listed[r.Key], !surplus && applied(&r):
			known[r.Key] = true
			continue
		case applied(&r) && known[r.Key]:
			r = models.IndexingResult{Key: r.Key, ErrorMessage: severalResults}
		case applied(&r):
			r = models.IndexingResult{Key: r.Key, ErrorMessage: strangeResult}
		}
		failed, listed[r.Key] = append(failed, r), true
	}
	for range actions - len(results) {
		failed = append(failed, models.IndexingResult{ErrorMessage: noResult})
	}
	return failed
}
