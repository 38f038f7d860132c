package models

// ActionType is the operation of an action on its document. The values are the service's own and are case-sensitive.
type ActionType string

const (
	// ActionTypeUpload creates the document or replaces it completely: missing fields become null.
	ActionTypeUpload ActionType = "upload"
	// ActionTypeMerge sets fields of an existing document and keeps the others. A struct sets all of its fields,
	// including zero values, unless they have omitempty or omitzero: see MergeAction. It fails with status 404 if the
	// document does not exist.
	ActionTypeMerge ActionType = "merge"
	// ActionTypeMergeOrUpload is ActionTypeMerge if the document exists, otherwise ActionTypeUpload.
	ActionTypeMergeOrUpload ActionType = "mergeOrUpload"
	// ActionTypeDelete deletes the document. Deleting a document that does not exist succeeds.
	ActionTypeDelete ActionType = "delete"
)

// Valid reports whether t is one of the four actions of the service.
func (t ActionType) Valid() bool {
	switch t {
	case ActionTypeUpload, ActionTypeMerge, ActionTypeMergeOrUpload, ActionTypeDelete:
		return true
	}
	return false
}

// IndexDocumentsAction is a document with the operation on it.
type IndexDocumentsAction[T any] struct {
	// Type is the operation. The zero value is refused: use one of the constructors.
	Type ActionType
	// Document is the document. ActionTypeDelete needs only its key.
	Document T
	// Tag is opaque to the library and is passed with every event about this action: a Kafka offset, a row id, an
	// acknowledgement function.
	Tag any
	// OnOutcome is called once by a buffered sender that has accepted the action, when its outcome is settled. It runs
	// after the handlers for the outcome, on the same goroutine, one call at a time and in the order of their calls. It
	// must not block. It is not called for an action that was not accepted. Package search ignores it.
	OnOutcome func(Outcome)
}

// UploadAction returns an action that creates or completely replaces doc.
func UploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeUpload, Document: doc}
}

// MergeAction returns an action that sets in an existing document every field that doc has in JSON.
//
// A struct has all of its fields in JSON, also those that were never assigned: merging Hotel{ID: "1", Rating: 5}
// erases the name and the tags in the index. Only zero fields with omitempty or omitzero in their json tag are
// omitted, and such a field can then not be set to zero. To change some fields and keep the others, merge a Patch,
// which distinguishes unchanged, null and zero, or a Document with only the fields to change.
func MergeAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeMerge, Document: doc}
}

// MergeOrUploadAction returns an action that merges doc into an existing document, or creates it. As with
// MergeAction, a struct overwrites every field that it has in JSON, including zero values: merge a Patch to keep
// some.
func MergeOrUploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeMergeOrUpload, Document: doc}
}

// DeleteAction returns an action that deletes the document with the key of doc. Other fields are ignored.
func DeleteAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeDelete, Document: doc}
}

// WithTag returns a copy of the action with the given Tag.
func (a IndexDocumentsAction[T]) WithTag(tag any) IndexDocumentsAction[T] {
	a.Tag = tag
	return a
}

// WithCallback returns a copy of the action with f as OnOutcome.
func (a IndexDocumentsAction[T]) WithCallback(f func(Outcome)) IndexDocumentsAction[T] {
	a.OnOutcome = f
	return a
}

// IndexDocumentsBatch is the body of one request to index documents. The service does not promise an order between
// its actions, so a batch should not contain a key twice.
type IndexDocumentsBatch[T any] struct {
	Actions []IndexDocumentsAction[T]
}

// NewIndexDocumentsBatch returns a batch of the given actions.
func NewIndexDocumentsBatch[T any](actions ...IndexDocumentsAction[T]) IndexDocumentsBatch[T] {
	return IndexDocumentsBatch[T]{Actions: actions}
}
