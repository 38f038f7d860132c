package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/models/skills"
)

func skillsetKind() *definitionKind[skills.Skillset] {
	return &definitionKind[skills.Skillset]{
		path:     "/skillsets",
		noun:     "skillset",
		notFound: ErrSkillsetNotFound,
		check:    namedAtAll("skillset"),
		valid:    readable[skills.Skillset](refusal.Skillset),
		named:    func(x *skills.Skillset) (string, string) { return x.Name, x.ETag },
		diff:     DiffDefinition[skills.Skillset],
	}
}

// CreateSkillsetOptions are the options of IndexerClient.CreateSkillset. There are
// none yet.
type CreateSkillsetOptions struct{}

// CreateSkillset creates a skillset and returns the stored definition with its ETag. If the skillset exists, the
// error is an *Error with status 409. A retry after a lost reply can get it too, because the first attempt created
// the skillset.
func (c *IndexerClient) CreateSkillset(ctx context.Context, skillset skills.Skillset, _ *CreateSkillsetOptions) (skills.Skillset, error) {
	return skillsetKind().create(ctx, c.manager, "CreateSkillset", skillset)
}

// CreateOrUpdateSkillsetOptions are the options of IndexerClient.CreateOrUpdateSkillset.
// nil and the zero value are ready to use.
type CreateOrUpdateSkillsetOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateSkillset creates a skillset or replaces an existing one, and returns the stored definition. Documents
// that are already indexed do not change. If a condition does not hold, the error is ErrPreconditionFailed. A
// definition that was read from a service carries an ETag and is written only over that version; see
// CreateOrUpdateIndex. The service does not return
// keys and connection strings; whether an update without them, or with "<redacted>", keeps the stored ones is not
// documented, so set them in every update.
func (c *IndexerClient) CreateOrUpdateSkillset(ctx context.Context, skillset skills.Skillset, opts *CreateOrUpdateSkillsetOptions) (skills.Skillset, error) {
	if opts == nil {
		opts = &CreateOrUpdateSkillsetOptions{}
	}
	return skillsetKind().put(ctx, c.manager, "CreateOrUpdateSkillset", skillset, opts.IfMatch, opts.IfNoneMatch)
}

// GetSkillsetOptions are the options of IndexerClient.GetSkillset. There are none
// yet.
type GetSkillsetOptions struct{}

// GetSkillset returns a skillset. If it does not exist, the error is ErrSkillsetNotFound.
func (c *IndexerClient) GetSkillset(ctx context.Context, name string, _ *GetSkillsetOptions) (skills.Skillset, error) {
	return skillsetKind().get(ctx, c.manager, "GetSkillset", name)
}

// ListSkillsetsOptions are the options of IndexerClient.ListSkillsets. nil and the
// zero value are ready to use.
type ListSkillsetsOptions ListIndexesOptions

// ListSkillsets returns all skillsets of the service. Each iteration makes the request again when it starts. An error
// ends the iteration and is yielded with a zero skillset.
func (c *IndexerClient) ListSkillsets(ctx context.Context, opts *ListSkillsetsOptions) iter.Seq2[skills.Skillset, error] {
	return listDefinitions(ctx, c.manager, skillsetKind(), "ListSkillsets", listed((*ListIndexesOptions)(opts)), skillsetKind().name)
}

// ListSkillsetNamesOptions are the options of IndexerClient.ListSkillsetNames. nil and
// the zero value are ready to use.
type ListSkillsetNamesOptions ListIndexesOptions

// ListSkillsetNames is ListSkillsets for the names only, which makes the replies much smaller.
func (c *IndexerClient) ListSkillsetNames(ctx context.Context, opts *ListSkillsetNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, skillsetKind(), "ListSkillsetNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteSkillsetOptions are the options of IndexerClient.DeleteSkillset. nil and
// the zero value are ready to use.
type DeleteSkillsetOptions struct {
	// IfMatch deletes the skillset only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteSkillset deletes a skillset. Indexers that use it fail from then on. If the skillset does not exist, the
// error is ErrSkillsetNotFound; a retry after a lost reply can get it too.
func (c *IndexerClient) DeleteSkillset(ctx context.Context, name string, opts *DeleteSkillsetOptions) error {
	if opts == nil {
		opts = &DeleteSkillsetOptions{}
	}
	return skillsetKind().delete(ctx, c.manager, "DeleteSkillset", name, opts.IfMatch)
}
