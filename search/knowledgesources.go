package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models/knowledge"
)

func knowledgeSourceKind() *definitionKind[knowledge.Source] {
	return &definitionKind[knowledge.Source]{
		path:     "/knowledgesources",
		noun:     "knowledge source",
		notFound: ErrKnowledgeSourceNotFound,
		check:    namedAtAll("knowledge source"),
		named:    func(x *knowledge.Source) (string, string) { return x.Name, x.ETag },
		needs:    apiversion.KnowledgeBases,
		diff:     DiffDefinition[knowledge.Source],
	}
}

// CreateKnowledgeSourceOptions are the options of IndexClient.CreateKnowledgeSource. There are
// none yet.
type CreateKnowledgeSourceOptions struct{}

// CreateKnowledgeSource creates a knowledge source and returns the stored definition with its ETag. For a source that
// copies its content, the service also creates an index, an indexer and so on. It needs api-version 2026-04-01 or
// 2025-11-01-preview. If the knowledge source exists, the error is an *Error with status 409. A retry after a lost
// reply can get it too, because the first attempt created the knowledge source.
func (c *IndexClient) CreateKnowledgeSource(ctx context.Context, knowledgeSource knowledge.Source, _ *CreateKnowledgeSourceOptions) (knowledge.Source, error) {
	return knowledgeSourceKind().create(ctx, c.manager, "CreateKnowledgeSource", knowledgeSource)
}

// CreateOrUpdateKnowledgeSourceOptions are the options of
// IndexClient.CreateOrUpdateKnowledgeSource. nil and the zero value are ready to use.
type CreateOrUpdateKnowledgeSourceOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateKnowledgeSource creates a knowledge source or replaces an existing one, and returns the stored
// definition. If a condition does not hold, the error is ErrPreconditionFailed. A definition that was read from a
// service carries an ETag and is written only over that version; see CreateOrUpdateIndex. The service does not return
// keys and connection strings; whether an update without them, or with "<redacted>", keeps the stored ones is not
// documented, so set them in every update.
func (c *IndexClient) CreateOrUpdateKnowledgeSource(ctx context.Context, knowledgeSource knowledge.Source, opts *CreateOrUpdateKnowledgeSourceOptions) (knowledge.Source, error) {
	if opts == nil {
		opts = &CreateOrUpdateKnowledgeSourceOptions{}
	}
	return knowledgeSourceKind().put(ctx, c.manager, "CreateOrUpdateKnowledgeSource", knowledgeSource, opts.IfMatch, opts.IfNoneMatch)
}

// GetKnowledgeSourceOptions are the options of IndexClient.GetKnowledgeSource. There are none
// yet.
type GetKnowledgeSourceOptions struct{}

// GetKnowledgeSource returns a knowledge source. If it does not exist, the error is ErrKnowledgeSourceNotFound.
func (c *IndexClient) GetKnowledgeSource(ctx context.Context, name string, _ *GetKnowledgeSourceOptions) (knowledge.Source, error) {
	return knowledgeSourceKind().get(ctx, c.manager, "GetKnowledgeSource", name)
}

// ListKnowledgeSourcesOptions are the options of IndexClient.ListKnowledgeSources. nil and the
// zero value are ready to use.
type ListKnowledgeSourcesOptions ListIndexesOptions

// ListKnowledgeSources returns all knowledge sources of the service. Each iteration makes the request again when it
// starts. An error ends the iteration and is yielded with a zero knowledge source.
func (c *IndexClient) ListKnowledgeSources(ctx context.Context, opts *ListKnowledgeSourcesOptions) iter.Seq2[knowledge.Source, error] {
	return listDefinitions(ctx, c.manager, knowledgeSourceKind(), "ListKnowledgeSources", listed((*ListIndexesOptions)(opts)), knowledgeSourceKind().name)
}

// DeleteKnowledgeSourceOptions are the options of IndexClient.DeleteKnowledgeSource. nil and
// the zero value are ready to use.
type DeleteKnowledgeSourceOptions struct {
	// IfMatch deletes the knowledge source only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteKnowledgeSource deletes a knowledge source. The service also deletes the index, the indexer and so on that it
// created for the source. If the knowledge source does not exist, the error is ErrKnowledgeSourceNotFound; a retry
// after a lost reply can get it too.
func (c *IndexClient) DeleteKnowledgeSource(ctx context.Context, name string, opts *DeleteKnowledgeSourceOptions) error {
	if opts == nil {
		opts = &DeleteKnowledgeSourceOptions{}
	}
	return knowledgeSourceKind().delete(ctx, c.manager, "DeleteKnowledgeSource", name, opts.IfMatch)
}
