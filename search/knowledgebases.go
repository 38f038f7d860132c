package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models/knowledge"
)

func knowledgeBaseKind() *definitionKind[knowledge.Base] {
	return &definitionKind[knowledge.Base]{
		path:     "/knowledgebases",
		noun:     "knowledge base",
		notFound: ErrKnowledgeBaseNotFound,
		check:    namedAtAll("knowledge base"),
		named:    func(x *knowledge.Base) (string, string) { return x.Name, x.ETag },
		needs:    apiversion.KnowledgeBases,
		diff:     DiffDefinition[knowledge.Base],
	}
}

// CreateKnowledgeBaseOptions are the options of IndexClient.CreateKnowledgeBase. There are
// none yet.
type CreateKnowledgeBaseOptions struct{}

// CreateKnowledgeBase creates a knowledge base and returns the stored definition with its ETag. It needs api-version
// 2026-04-01 or 2025-11-01-preview. If the knowledge base exists, the error is an *Error with status 409. A retry
// after a lost reply can get it too, because the first attempt created the knowledge base.
func (c *IndexClient) CreateKnowledgeBase(ctx context.Context, knowledgeBase knowledge.Base, _ *CreateKnowledgeBaseOptions) (knowledge.Base, error) {
	return knowledgeBaseKind().create(ctx, c.manager, "CreateKnowledgeBase", knowledgeBase)
}

// CreateOrUpdateKnowledgeBaseOptions are the options of IndexClient.CreateOrUpdateKnowledgeBase.
// nil and the zero value are ready to use.
type CreateOrUpdateKnowledgeBaseOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateKnowledgeBase creates a knowledge base or replaces an existing one, and returns the stored
// definition. If a condition does not hold, the error is ErrPreconditionFailed. A definition that was read from a
// service carries an ETag and is written only over that version; see CreateOrUpdateIndex. The service does not return
// keys and connection strings; whether an update without them, or with "<redacted>", keeps the stored ones is not
// documented, so set them in every update.
func (c *IndexClient) CreateOrUpdateKnowledgeBase(ctx context.Context, knowledgeBase knowledge.Base, opts *CreateOrUpdateKnowledgeBaseOptions) (knowledge.Base, error) {
	if opts == nil {
		opts = &CreateOrUpdateKnowledgeBaseOptions{}
	}
	return knowledgeBaseKind().put(ctx, c.manager, "CreateOrUpdateKnowledgeBase", knowledgeBase, opts.IfMatch, opts.IfNoneMatch)
}

// GetKnowledgeBaseOptions are the options of IndexClient.GetKnowledgeBase. There are none
// yet.
type GetKnowledgeBaseOptions struct{}

// GetKnowledgeBase returns a knowledge base. If it does not exist, the error is ErrKnowledgeBaseNotFound.
func (c *IndexClient) GetKnowledgeBase(ctx context.Context, name string, _ *GetKnowledgeBaseOptions) (knowledge.Base, error) {
	return knowledgeBaseKind().get(ctx, c.manager, "GetKnowledgeBase", name)
}

// ListKnowledgeBasesOptions are the options of IndexClient.ListKnowledgeBases. nil and the
// zero value are ready to use.
type ListKnowledgeBasesOptions ListIndexesOptions

// ListKnowledgeBases returns all knowledge bases of the service. Each iteration makes the request again when it
// starts. An error ends the iteration and is yielded with a zero knowledge base.
func (c *IndexClient) ListKnowledgeBases(ctx context.Context, opts *ListKnowledgeBasesOptions) iter.Seq2[knowledge.Base, error] {
	return listDefinitions(ctx, c.manager, knowledgeBaseKind(), "ListKnowledgeBases", listed((*ListIndexesOptions)(opts)), knowledgeBaseKind().name)
}

// DeleteKnowledgeBaseOptions are the options of IndexClient.DeleteKnowledgeBase. nil and
// the zero value are ready to use.
type DeleteKnowledgeBaseOptions struct {
	// IfMatch deletes the knowledge base only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteKnowledgeBase deletes a knowledge base, but not its sources. If the knowledge base does not exist, the error
// is ErrKnowledgeBaseNotFound; a retry after a lost reply can get it too.
func (c *IndexClient) DeleteKnowledgeBase(ctx context.Context, name string, opts *DeleteKnowledgeBaseOptions) error {
	if opts == nil {
		opts = &DeleteKnowledgeBaseOptions{}
	}
	return knowledgeBaseKind().delete(ctx, c.manager, "DeleteKnowledgeBase", name, opts.IfMatch)
}
