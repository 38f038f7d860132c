package batch

import (
	"net/http"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// The messages of actions that fail on their own.
const (
	messageNotFound = "Document not found."
	messageQuota    = "Document quota has been exceeded for this index. You must either delete documents first, or use a higher SKU for additional quota."
	messageConflict = "The document could not be updated because it was changed by another request at the same time."
	messageOffline  = "Index is temporarily unavailable because it was updated with the 'allowIndexDowntime' flag set to 'true'. Please try again later."
	messageBusy     = "The search service is too busy to process this document. Please try again later."
)

// Result is the outcome of one action.
type Result struct {
	Key     string
	Status  int
	Message string // "" if it succeeded
}

// Failed reports whether the action was not applied.
func (r Result) Failed() bool { return r.Status >= 300 }

// DocumentMessage returns the service's message for a document refused with that status, if
// the message is constant.
func DocumentMessage(status int) string {
	switch status {
	case http.StatusNotFound:
		return messageNotFound
	case http.StatusConflict:
		return messageConflict
	case http.StatusUnprocessableEntity:
		return messageOffline
	case http.StatusTooManyRequests:
		return messageQuota
	case http.StatusServiceUnavailable:
		return messageBusy
	}
	return http.StatusText(status) + "."
}

// AppendResult appends one entry of the reply to a batch.
func AppendResult(dst []byte, r Result) []byte {
	dst = append(dst, `{"key":`...)
	dst = reply.AppendString(dst, r.Key)
	if r.Failed() {
		dst = append(dst, `,"status":false,"errorMessage":`...)
		dst = reply.AppendString(dst, r.Message)
	} else {
		dst = append(dst, `,"status":true,"errorMessage":null`...)
	}
	dst = append(dst, `,"statusCode":`...)
	dst = strconv.AppendInt(dst, int64(r.Status), 10)
	return append(dst, '}')
}
