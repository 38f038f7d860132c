package models

// ActionType says what the service does with the document of an action. The
// names are the service's own and are case-sensitive on the wire.
type ActionType string

const (
	// ActionTypeUpload creates the document, or replaces it completely: fields that
	// are not supplied become null.
	ActionTypeUpload ActionType = "upload"
	// ActionTypeMerge sets the fields of an existing document that are supplied, and
	// leaves the others. A struct supplies all of its fields, zero values
	// included, unless they have omitempty or omitzero: see MergeAction. It fails
	// with status 404 if the document does not exist.
	ActionTypeMerge ActionType = "merge"
	// ActionTypeMergeOrUpload behaves like ActionTypeMerge if the document exists and
	// like ActionTypeUpload if it does not.
	ActionTypeMergeOrUpload ActionType = "mergeOrUpload"
	// ActionTypeDelete removes the document. Deleting a document that does not
	// exist succeeds.
	ActionTypeDelete ActionType = "delete"
)

// Valid reports whether t is one of the four actions that the service knows.
func (t ActionType) Valid() bool {
	switch t {
	case ActionTypeUpload, ActionTypeMerge, ActionTypeMergeOrUpload, ActionTypeDelete:
		return true
	}
	return false
}

// IndexDocumentsAction is one document and what to do with it.
type IndexDocumentsAction[T any] struct {
	// Type is what to do. The zero value is refused: use one of the
	// constructors.
	Type ActionType
	// Document is the document, or for ActionTypeDelete whatever holds its key.
	Document T
	// Tag is opaque to the library and is handed back in every event about this
	// action: a Kafka offset, a row id, an acknowledgement function.
	Tag any
	// OnOutcome is called once by a buffered sender that has accepted the action,
	// when it has ended: after the handlers that are notified of this end, on the same
	// goroutine, one call at a time and in their order. It must not block. It is not
	// called for an action that was not accepted. Package search ignores it.
	OnOutcome func(Outcome)
}

// UploadAction returns an action that creates or completely replaces doc.
func UploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeUpload, Document: doc}
}

// MergeAction returns an action that sets every field that doc has in JSON in an
// existing document.
//
// A struct has all of its fields in JSON, those that nobody set as well: merging
// Hotel{ID: "1", Rating: 5} erases the name and the tags that the index has. Only
// fields with omitempty or omitzero in their json tag are left out when they are
// zero, and these can then not be set to zero. To change some fields and leave the
// others merge a Patch, in which "leave it", "make it null" and "make it zero" are
// three different things, or a Document that holds just the fields to change.
func MergeAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeMerge, Document: doc}
}

// MergeOrUploadAction returns an action that merges doc into an existing
// document, or creates it. As with MergeAction a struct overwrites every field
// that it has in JSON, zero values included: merge a Patch to leave some.
func MergeOrUploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeMergeOrUpload, Document: doc}
}

// DeleteAction returns an action that deletes the document with doc's key. Its
// other fields are ignored.
func DeleteAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionTypeDelete, Document: doc}
}

// WithTag returns a copy of the action that carries tag.
func (a IndexDocumentsAction[T]) WithTag(tag any) IndexDocumentsAction[T] {
	a.Tag = tag
	return a
}

// WithCallback returns a copy of the action that has f called with its outcome.
func (a IndexDocumentsAction[T]) WithCallback(f func(Outcome)) IndexDocumentsAction[T] {
	a.OnOutcome = f
	return a
}

// IndexDocumentsBatch is the body of one request to index documents. The
// service promises no order between its actions, so a key should appear once.
type IndexDocumentsBatch[T any] struct {
	Actions []IndexDocumentsAction[T]
}

// NewIndexDocumentsBatch returns a batch of the given actions.
func NewIndexDocumentsBatch[T any](actions ...IndexDocumentsAction[T]) IndexDocumentsBatch[T] {
	return IndexDocumentsBatch[T]{Actions: actions}
}
