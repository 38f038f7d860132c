package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// The limits of one request in the service's documentation: 1000 actions (newer services accept more) and 16 MB, here
// 16,000,000 bytes, because the documentation does not say whether it means MB or MiB.
const (
	DefaultMaxBatchActions = 1000
	DefaultMaxBatchBytes   = 16_000_000
)

// ErrBatchTooLarge is in the error chain if a batch exceeds the limits of one request. Nothing was sent.
var ErrBatchTooLarge = errors.New("batch too large for one request")

// InvalidBatchError lists the documents of a batch that cannot be sent. Nothing of the batch was sent.
type InvalidBatchError struct {
	// Problems holds every invalid document, in the order of the batch.
	Problems []*InvalidDocumentError
	// Actions is the number of actions in the batch.
	Actions int
}

// Error names the first five documents.
func (e *InvalidBatchError) Error() string {
	return fmt.Sprintf("nothing was sent, because %d of %d actions cannot be: %s", len(e.Problems), e.Actions, firstFew(e.Problems, (*InvalidDocumentError).Error))
}

// Unwrap returns the problems.
func (e *InvalidBatchError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// InvalidDocumentError is the problem of one document of a batch: an illegal key (*keys.InvalidKeyError), a value
// that cannot be encoded (*models.EncodeError), or an unknown action.
type InvalidDocumentError struct {
	// Position is the place in the batch, from 0.
	Position int
	// Key is the key of the document, "" if it is unknown.
	Key string
	// Err is the problem.
	Err error
}

func (e *InvalidDocumentError) Error() string {
	return fmt.Sprintf("action %d: %v", e.Position, e.Err)
}

// Unwrap returns Err.
func (e *InvalidDocumentError) Unwrap() error { return e.Err }

// few is the number of entries of a long list that an error text names.
const few = 5

// firstFew joins the texts of the first entries of a list and counts the rest.
func firstFew[E any](list []E, text func(E) string) string {
	var b strings.Builder
	for i, e := range list {
		if i == few {
			fmt.Fprintf(&b, "; and %d more", len(list)-few)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text(e))
	}
	return b.String()
}

// limits bound one batch. Zero means the default, a negative value no limit.
type limits struct {
	actions int
	bytes   int
}

// check returns the error for a batch with n actions, or nil.
func (l limits) check(n int) error {
	if l.actions == 0 {
		l.actions = DefaultMaxBatchActions
	}
	if l.actions > 0 && n > l.actions {
		return fmt.Errorf("%w: it has %d actions, one request may have %d: use a bufferedsender, which makes batches of any number of documents", ErrBatchTooLarge, n, l.actions)
	}
	return nil
}

// encodeBatch returns the body for the actions, and their keys (nil if key is the zero KeyField). It encodes every
// action before it returns, so that the error lists all problems.
func encodeBatch[T any](actions []models.IndexDocumentsAction[T], key models.KeyField[T], limits limits) (body []byte, names []string, err error) {
	if err := limits.check(len(actions)); err != nil {
		return nil, nil, err
	}
	maxBytes := limits.bytes
	if maxBytes == 0 {
		maxBytes = DefaultMaxBatchBytes
	}
	if key.Name != "" {
		names = make([]string, 0, len(actions))
	}
	var problems []*InvalidDocumentError
	body = append(body, `{"value":[`...)
	for i, action := range actions {
		if i > 0 {
			body = append(body, ',')
		}
		var name string
		if body, name, err = appendAction(body, action, key); err != nil {
			problems = append(problems, &InvalidDocumentError{Position: i, Key: name, Err: err})
		}
		if names != nil {
			names = append(names, name)
		}
		if i == 0 { // grow for all actions, assuming the length of the first
			body = slices.Grow(body, min(len(body)*len(actions)*9/8, DefaultMaxBatchBytes))
		}
		if maxBytes > 0 && len(body)+len("]}") > maxBytes {
			return nil, nil, fmt.Errorf("%w: its first %d of %d actions make %d bytes already, one request may have %d: use a bufferedsender, which makes batches of the right size",
				ErrBatchTooLarge, i+1, len(actions), len(body)+len("]}"), maxBytes)
		}
	}
	if len(problems) > 0 {
		return nil, nil, &InvalidBatchError{Problems: problems, Actions: len(actions)}
	}
	return append(body, "]}"...), names, nil
}

// appendAction appends one action, and returns the key of its document, "" if it is unknown.
func appendAction[T any](dst []byte, action models.IndexDocumentsAction[T], key models.KeyField[T]) ([]byte, string, error) {
	if key.Name == "" {
		dst, err := models.AppendAction(dst, action.Type, action.Document)
		return dst, "", err
	}
	name, err := key.Get(action.Document)
	if err != nil {
		return dst, "", err
	}
	if err := keys.Validate(name); err != nil {
		return dst, name, err
	}
	if action.Type == models.ActionTypeDelete {
		// The service ignores all other fields, so they are not sent.
		return models.AppendDelete(dst, key.Name, name), name, nil
	}
	dst, err = models.AppendAction(dst, action.Type, action.Document)
	return dst, name, err
}
