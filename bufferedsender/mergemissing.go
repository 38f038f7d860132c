package bufferedsender

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// MergeMissing is the policy for a merge of a missing document (404).
type MergeMissing uint8

const (
	// MergeMissingFail fails the merge. Nothing was changed.
	MergeMissingFail MergeMissing = iota
	// MergeMissingIgnore completes the merge. Its Result has status 404.
	MergeMissingIgnore
	// MergeMissingUpload sends the action again as mergeOrUpload, without using an attempt.
	MergeMissingUpload
)

// A merge is encoded with room for the longer name. So it keeps the size with which it was admitted if it is sent again
// as a mergeOrUpload. Blanks between tokens have no meaning in JSON.
const (
	actionName = `{"@search.action":"`
	mergeRoom  = len(models.ActionTypeMergeOrUpload) - len(models.ActionTypeMerge)
)

var (
	mergeHead  = []byte(actionName + string(models.ActionTypeMerge) + `"`)
	wideHead   = append(bytes.Clone(mergeHead), bytes.Repeat([]byte(" "), mergeRoom)...)
	upsertHead = []byte(actionName + string(models.ActionTypeMergeOrUpload) + `"`)
)

// widen makes room for the longer name in the encoded merge at the end of buf.
func widen(buf []byte, start int) []byte {
	if !bytes.HasPrefix(buf[start:], mergeHead) || bytes.HasPrefix(buf[start:], wideHead) {
		return buf
	}
	at := start + len(mergeHead)
	return slices.Insert(buf, at, wideHead[len(mergeHead):]...)
}

// narrow undoes widen, for code that expects no blanks.
func narrow(action []byte) []byte {
	if !bytes.HasPrefix(action, wideHead) {
		return action
	}
	return append(bytes.Clone(mergeHead), action[len(wideHead):]...)
}

// judge decides the next step of a merge whose document is missing.
func (m MergeMissing) judge(action []byte, r publisher.Result[models.IndexingResult]) publisher.Result[models.IndexingResult] {
	switch m {
	case MergeMissingIgnore:
		r.Next, r.Ignored = publisher.Complete, true
	case MergeMissingUpload:
		if bytes.HasPrefix(action, wideHead) {
			r.Next, r.Body = publisher.Requeue, bytes.Clone(action)
			copy(r.Body, upsertHead)
		}
	}
	return r
}

// missingDocument reports whether a result is about a merge of a missing document.
func missingDocument(typ models.ActionType, answer *models.IndexingResult) bool {
	return typ == models.ActionTypeMerge && answer.StatusCode == http.StatusNotFound
}
