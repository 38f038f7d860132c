package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/skills"
)

var skillsetKind = &definitionKind[skills.Skillset]{
	path:     "/skillsets",
	noun:     "skillset",
	notFound: ErrSkillsetNotFound,
	check:    namedAtAll("skillset"),
	named:    func(x *skills.Skillset) (string, string) { return x.Name, x.ETag },
	diff:     DiffDefinition[skills.Skillset],
}

// CreateSkillsetOptions are the options of IndexerClient.CreateSkillset. There are
// none yet.
type CreateSkillsetOptions struct{}

// CreateSkillset creates a skillset and returns it as the service has it, with
// its ETag. One of that name that exists is an *Error with status 409; a
// retry after a lost answer gets it as well, for the one that it has created itself.
func (c *IndexerClient) CreateSkillset(ctx context.Context, skillset skills.Skillset, _ *CreateSkillsetOptions) (skills.Skillset, error) {
	return skillsetKind.create(ctx, c.manager, "CreateSkillset", skillset)
}

// CreateOrUpdateSkillsetOptions are the options of IndexerClient.CreateOrUpdateSkillset.
// nil and the zero value are ready to use.
type CreateOrUpdateSkillsetOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateSkillset creates a skillset or replaces the one that exists, and
// returns it as the service has it. Documents that are indexed already stay as they
// are. A condition that does not hold is ErrPreconditionFailed. A definition that was
// read from a service has an ETag and is written only over the version it was read
// from; see CreateOrUpdateIndex.
func (c *IndexerClient) CreateOrUpdateSkillset(ctx context.Context, skillset skills.Skillset, opts *CreateOrUpdateSkillsetOptions) (skills.Skillset, error) {
	if opts == nil {
		opts = &CreateOrUpdateSkillsetOptions{}
	}
	return skillsetKind.put(ctx, c.manager, "CreateOrUpdateSkillset", skillset, opts.IfMatch, opts.IfNoneMatch)
}

// GetSkillsetOptions are the options of IndexerClient.GetSkillset. There are none
// yet.
type GetSkillsetOptions struct{}

// GetSkillset returns a skillset. If there is none of that name the error is
// ErrSkillsetNotFound.
func (c *IndexerClient) GetSkillset(ctx context.Context, name string, _ *GetSkillsetOptions) (skills.Skillset, error) {
	return skillsetKind.get(ctx, c.manager, "GetSkillset", name)
}

// ListSkillsetsOptions are the options of IndexerClient.ListSkillsets. nil and the
// zero value are ready to use.
type ListSkillsetsOptions ListIndexesOptions

// ListSkillsets returns all skillsets of the service. The request is made when the
// iteration starts, and again for every iteration. An error is the last thing that is
// yielded, with a zero skillset.
func (c *IndexerClient) ListSkillsets(ctx context.Context, opts *ListSkillsetsOptions) iter.Seq2[skills.Skillset, error] {
	return listDefinitions(ctx, c.manager, skillsetKind, "ListSkillsets", listed((*ListIndexesOptions)(opts)), skillsetKind.name)
}

// ListSkillsetNamesOptions are the options of IndexerClient.ListSkillsetNames. nil and
// the zero value are ready to use.
type ListSkillsetNamesOptions ListIndexesOptions

// ListSkillsetNames is ListSkillsets without all but the names, which is much less for
// the service to send.
func (c *IndexerClient) ListSkillsetNames(ctx context.Context, opts *ListSkillsetNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, skillsetKind, "ListSkillsetNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteSkillsetOptions are the options of IndexerClient.DeleteSkillset. nil and
// the zero value are ready to use.
type DeleteSkillsetOptions struct {
	// IfMatch deletes the skillset only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteSkillset deletes a skillset. Indexers that name it fail from then on. If there
// is none of that name the error is ErrSkillsetNotFound; a retry after a lost answer
// gets it as well.
func (c *IndexerClient) DeleteSkillset(ctx context.Context, name string, opts *DeleteSkillsetOptions) error {
	if opts == nil {
		opts = &DeleteSkillsetOptions{}
	}
	return skillsetKind.delete(ctx, c.manager, "DeleteSkillset", name, opts.IfMatch)
}
