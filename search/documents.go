package search

import (
	"bytes"
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// IndexDocumentsOptions are the options of IndexDocuments and of the functions based on it. nil and the zero value
// are ready to use.
type IndexDocumentsOptions struct {
	// KeyField is the name of the key field in JSON. It is used to check keys before they are sent, and to name documents
	// that the reply omits. Defaults to the field with the struct tag `search:"key"`; without either, only the service
	// checks keys.
	KeyField string
	// MaxBatchActions is the largest number of actions in a request. Defaults to DefaultMaxBatchActions, 1000; a negative
	// value means no limit. Newer services accept 32000.
	MaxBatchActions int
	// MaxBatchBytes is the largest size of a request body, in bytes. Defaults to DefaultMaxBatchBytes, 16 MB; a negative
	// value means no limit.
	MaxBatchBytes int
}

// IndexDocuments sends the actions of a batch in one request and returns the result of each. Use it for a few
// documents at a time; for many, or from many goroutines, use a bufferedsender.
//
// If the service did not apply every action, the error is an *IndexingError that lists the failed documents, and the
// result is returned as well. Before anything is sent, all documents that cannot be encoded and all illegal keys are
// reported in one *InvalidBatchError. A batch above the limits is ErrBatchTooLarge. A batch without actions sends
// nothing and returns no error.
//
// If the reply has one of retry.CallStatuses or the connection breaks, the whole request is retried as
// ClientOptions.Retry says. Retries are safe because actions are idempotent, with one exception: if a merge was
// applied, its reply was lost, and another writer has deleted the document since, the retry returns a 404. A document
// that the reply rejects is not retried here, whatever retry.ForDocument says of its status: a bufferedsender does
// that. The service does not promise an order between the actions of one batch, so a batch should not contain a key
// twice.
//
// ctx bounds the whole call. IndexDocuments is safe for concurrent use.
func IndexDocuments[T any](ctx context.Context, c *Client, batch models.IndexDocumentsBatch[T], opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "IndexDocuments", batch.Actions, opts)
}

// UploadDocuments creates the documents, or replaces them completely if they
// exist. It is IndexDocuments with upload actions.
func UploadDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "UploadDocuments", actionsOf(models.ActionTypeUpload, docs), opts)
}

// MergeDocuments sets in existing documents all fields that docs have in JSON. A struct has all of its fields in
// JSON, including zero values, unless their json tag has omitempty or omitzero: merging Hotel{ID: "1", Rating: 5}
// erases the name and the tags in the index. To change some fields and leave the others pass []*models.Patch. A
// document that does not exist fails with status 404. It is IndexDocuments with merge actions.
func MergeDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "MergeDocuments", actionsOf(models.ActionTypeMerge, docs), opts)
}

// MergeOrUploadDocuments is MergeDocuments for existing documents, and creates the documents that do not exist. As
// with MergeDocuments, zero values of a struct are written too. It is IndexDocuments with mergeOrUpload actions.
func MergeOrUploadDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "MergeOrUploadDocuments", actionsOf(models.ActionTypeMergeOrUpload, docs), opts)
}

// DeleteDocuments deletes the documents with the keys of docs. Their other fields are ignored. Deleting a document
// that does not exist succeeds. It is IndexDocuments with delete actions.
func DeleteDocuments[T any](ctx context.Context, c *Client, docs []T, opts *IndexDocumentsOptions) (models.IndexDocumentsResult, error) {
	return indexDocuments(ctx, c, "DeleteDocuments", actionsOf(models.ActionTypeDelete, docs), opts)
}

// DeleteDocumentsByKey deletes the documents with the given keys. keyField is the name of the key field; if it is "",
// the service is asked for it once per Client, which requires the right to read the index definition. Otherwise it is
// like DeleteDocuments; the KeyField of opts is ignored.
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

// keyFieldOf returns the key of T by its name, or by its struct tag if name is "".
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
