package search

import (
	"bytes"
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// IndexDocumentsOptions are the options of IndexDocuments and of the functions
// that are made of it. nil and the zero value are ready to use.
type IndexDocumentsOptions struct {
	// KeyField is the name of the key field in JSON. It is needed only to check
	// keys before they are sent and to name documents that the reply leaves
	// out. Defaults to the field with the struct tag `search:"key"`; without
	// either, keys are left to the service to check.
	KeyField string
	// MaxBatchActions is how many actions one request may have. Defaults to
	// DefaultMaxBatchActions, 1000; negative turns the check off. Newer
	// services accept 32000.
	MaxBatchActions int
	// MaxBatchBytes is how long the body of one request may be. Defaults to
	// DefaultMaxBatchBytes, 16 MB; negative turns the check off.
	MaxBatchBytes int
}

// IndexDocuments sends the actions of a batch in one request and returns what
// became of each. It is for a few documents at a time; for many, or from many
// goroutines, use a bufferedsender.
//
// A document that the service did not accept is never passed over: if there is
// one, the error is an *IndexingError that names each of them, and the result
// is returned as well. Before anything is sent, documents that cannot be
// encoded and keys that are not legal are reported, all at once, as an
// *InvalidBatchError, and a batch over the limits as ErrBatchTooLarge. A batch
// without actions is no request and no error.
//
// The request as a whole is tried again, as ClientOptions.Retry says, when it
// is answered with one of retry.CallStatuses or the connection breaks. That is
// safe because actions may be repeated, with one exception: a merge that was
// applied, whose answer was lost and whose document was deleted by somebody else
// since, comes back as a 404. A document that was refused inside a reply is not
// tried again here, whatever retry.ForDocument says of its status: a bufferedsender
// does that. The service promises no order between the actions of one batch, so
// a key should appear in it once.
//
// ctx bounds the whole call. IndexDocuments may be called by many goroutines.
func IndexDocuments[T any](ctx context.Context, c *Client, batch models.IndexDocumentsBatch[T], opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "IndexDocuments", batch.Actions, opts)
}

// UploadDocuments creates the documents, or replaces them completely if they
// exist. It is IndexDocuments with upload actions.
func UploadDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "UploadDocuments", actionsOf(models.ActionTypeUpload, docs), opts)
}

// MergeDocuments sets every field that docs have in JSON in existing documents. A
// struct has all of its fields there, zero values included, unless they have
// omitempty or omitzero in their json tag: merging Hotel{ID: "1", Rating: 5}
// erases the name and the tags that the index has. To change some fields and leave
// the others pass []*models.Patch. A document that does not exist fails with status
// 404. It is IndexDocuments with merge actions.
func MergeDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "MergeDocuments", actionsOf(models.ActionTypeMerge, docs), opts)
}

// MergeOrUploadDocuments sets every field that docs have in JSON in existing
// documents, zero values of a struct included as MergeDocuments does, and creates
// those that do not exist. It is IndexDocuments with mergeOrUpload actions.
func MergeOrUploadDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "MergeOrUploadDocuments", actionsOf(models.ActionTypeMergeOrUpload, docs), opts)
}

// DeleteDocuments deletes the documents with the keys of docs, whose other
// fields do not matter. Deleting a document that does not exist succeeds. It is
// IndexDocuments with delete actions.
func DeleteDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "DeleteDocuments", actionsOf(models.ActionTypeDelete, docs), opts)
}

// DeleteDocumentsByKey deletes the documents with the given keys. keyField is
// the name of the key field; "" asks the service for it, once per Client, which
// takes the right to read the index definition. Otherwise it is like
// DeleteDocuments; the KeyField of opts is not used.
func DeleteDocumentsByKey(ctx context.Context, c *Client, keyField string, documentKeys []string, opts *IndexDocumentsOptions) (_ models.IndexDocumentsResult, err error) {
	const operation = "DeleteDocumentsByKey"
	if opts == nil {
		opts = &IndexDocumentsOptions{}
	}
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, writeDocuments)
	limits := limits{actions: opts.MaxBatchActions, bytes: opts.MaxBatchBytes}
	if err := limits.check(len(documentKeys)); err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	var problems []*InvalidDocumentError
	for i, key := range documentKeys {
		if err := keys.Validate(key); err != nil {
			problems = append(problems, &InvalidDocumentError{Position: i, Key: key, Err: err})
		}
	}
	if len(problems) > 0 {
		return models.IndexDocumentsResult{}, call.wrap(&InvalidBatchError{Problems: problems, Actions: len(documentKeys)})
	}
	if len(documentKeys) == 0 {
		return models.IndexDocumentsResult{}, nil
	}
	if keyField == "" {
		if keyField, err = c.KeyFieldName(ctx); err != nil {
			return models.IndexDocumentsResult{}, err
		}
	}
	field, err := models.KeyFieldByName[map[string]string](keyField)
	if err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	actions := make([]models.IndexDocumentsAction[map[string]string], len(documentKeys))
	for i, key := range documentKeys {
		actions[i] = models.DeleteAction(map[string]string{keyField: key})
	}
	return sendActions(ctx, c, call, actions, field, limits)
}

func actionsOf[T any](typ models.ActionType, docs []T) []models.IndexDocumentsAction[T] {
	actions := make([]models.IndexDocumentsAction[T], len(docs))
	for i, doc := range docs {
		actions[i] = models.IndexDocumentsAction[T]{Type: typ, Document: doc}
	}
	return actions
}

func indexDocuments[T any](ctx context.Context, c *Client, operation string, actions []models.IndexDocumentsAction[T], opts *IndexDocumentsOptions) (_ models.IndexDocumentsResult, err error) {
	if opts == nil {
		opts = &IndexDocumentsOptions{}
	}
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, writeDocuments)
	key, err := keyFieldOf[T](opts.KeyField)
	if err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	return sendActions(ctx, c, call, actions, key, limits{actions: opts.MaxBatchActions, bytes: opts.MaxBatchBytes})
}

// keyFieldOf returns the key of T: by name, or else by its struct tag.
func keyFieldOf[T any](name string) (models.KeyField[T], error) {
	if name != "" {
		return models.KeyFieldByName[T](name)
	}
	return models.KeyFieldOf[T]()
}

func sendActions[T any](ctx context.Context, c *Client, call call, actions []models.IndexDocumentsAction[T], key models.KeyField[T], limits limits) (models.IndexDocumentsResult, error) {
	if len(actions) == 0 {
		return models.IndexDocumentsResult{}, nil
	}
	body, names, err := encodeBatch(actions, key, limits)
	if err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	call.measured = c.telemetry.begin(ctx, measureBatch)
	result, err := c.postBatch(ctx, streaming.NopCloser(bytes.NewReader(body)), call, true)
	call.measured.end(ctx, unknownRows, err)
	if err != nil {
		return result, err
	}
	if failed := failures(len(actions), names, result.Results); len(failed) > 0 {
		return result, &IndexingError{
			Failed:    failed,
			Actions:   len(actions),
			Operation: call.operation,
			IndexName: c.indexName,
			RequestID: result.RequestID,
		}
	}
	return result, nil
}
