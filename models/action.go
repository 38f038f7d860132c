package models

// ActionType says what the service does with the document of an action. The
// names are the service's own and are case-sensitive on the wire.
type ActionType string

const (
	// ActionUpload creates the document, or replaces it completely: fields that
	// are not supplied become null.
	ActionUpload ActionType = "upload"
	// ActionMerge sets the supplied fields of an existing document. It fails
	// with status 404 if the document does not exist.
	ActionMerge ActionType = "merge"
	// ActionMergeOrUpload behaves like ActionMerge if the document exists and
	// like ActionUpload if it does not.
	ActionMergeOrUpload ActionType = "mergeOrUpload"
	// ActionDelete removes the document. Deleting a document that does not
	// exist succeeds.
	ActionDelete ActionType = "delete"
)

// Valid reports whether t is one of the four actions that the service knows.
func (t ActionType) Valid() bool {
	switch t {
	case ActionUpload, ActionMerge, ActionMergeOrUpload, ActionDelete:
		return true
	}
	return false
}

// IndexDocumentsAction is one document and what to do with it.
type IndexDocumentsAction[T any] struct {
	// Type is what to do. The zero value is refused: use one of the
	// constructors.
	Type ActionType
	// Document is the document, or for ActionDelete whatever holds its key.
	Document T
	// Tag is opaque to the library and is handed back in every event about this
	// action: a Kafka offset, a row id, an acknowledgement function.
	Tag any
}

// UploadAction returns an action that creates or completely replaces doc.
func UploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionUpload, Document: doc}
}

// MergeAction returns an action that sets the fields of doc in an existing
// document.
func MergeAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionMerge, Document: doc}
}

// MergeOrUploadAction returns an action that merges doc into an existing
// document, or creates it.
func MergeOrUploadAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionMergeOrUpload, Document: doc}
}

// DeleteAction returns an action that deletes the document with doc's key. Its
// other fields are ignored.
func DeleteAction[T any](doc T) IndexDocumentsAction[T] {
	return IndexDocumentsAction[T]{Type: ActionDelete, Document: doc}
}

// WithTag returns a copy of the action that carries tag.
func (a IndexDocumentsAction[T]) WithTag(tag any) IndexDocumentsAction[T] {
	a.Tag = tag
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
