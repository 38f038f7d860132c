package search

import (
	"context"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

func aliasKind() *definitionKind[models.Alias] {
	return &definitionKind[models.Alias]{
		path:     "/aliases",
		noun:     "alias",
		notFound: ErrAliasNotFound,
		check:    validateAliasName,
		named:    func(x *models.Alias) (string, string) { return x.Name, x.ETag },
		needs:    apiversion.Aliases,
		diff:     DiffDefinition[models.Alias],
	}
}

// validateAliasName checks name against the rules for the names of indexes.
func validateAliasName(name string) error {
	if err := validateIndexName(name); err != nil {
		return fmt.Errorf("an alias is named like an index: %w", err)
	}
	return nil
}

// CreateAliasOptions are the options of IndexClient.CreateAlias. There are none
// yet.
type CreateAliasOptions struct{}

// CreateAlias creates an alias and returns the stored definition with its ETag. Aliases need api-version 2026-04-01;
// a client with an older one sends nothing and returns an error. If the alias exists, the error is an *Error with
// status
// 409. A retry after a lost reply can get it too, because the first attempt created the alias.
func (c *IndexClient) CreateAlias(ctx context.Context, alias models.Alias, _ *CreateAliasOptions) (models.Alias, error) {
	return aliasKind().create(ctx, c.manager, "CreateAlias", alias)
}

// CreateOrUpdateAliasOptions are the options of IndexClient.CreateOrUpdateAlias.
// nil and the zero value are ready to use.
type CreateOrUpdateAliasOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch
	// defaults to the ETag of the alias if that has one and IfNoneMatch is not
	// given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateAlias creates an alias or points an existing one to another index, and returns the stored definition.
// If a condition does not hold, the error is ErrPreconditionFailed. An alias that was read from a service carries an
// ETag and is written only over that version; see CreateOrUpdateIndex.
func (c *IndexClient) CreateOrUpdateAlias(ctx context.Context, alias models.Alias, opts *CreateOrUpdateAliasOptions) (models.Alias, error) {
	if opts == nil {
		opts = &CreateOrUpdateAliasOptions{}
	}
	return aliasKind().put(ctx, c.manager, "CreateOrUpdateAlias", alias, opts.IfMatch, opts.IfNoneMatch)
}

// GetAliasOptions are the options of IndexClient.GetAlias. There are none yet.
type GetAliasOptions struct{}

// GetAlias returns an alias. If it does not exist, the error is ErrAliasNotFound.
func (c *IndexClient) GetAlias(ctx context.Context, name string, _ *GetAliasOptions) (models.Alias, error) {
	return aliasKind().get(ctx, c.manager, "GetAlias", name)
}

// ListAliasesOptions are the options of IndexClient.ListAliases. nil
// and the zero value are ready to use.
type ListAliasesOptions ListIndexesOptions

// ListAliases returns all aliases of the service. Each iteration makes the request again when it starts. An error
// ends the iteration and is yielded with a zero alias.
func (c *IndexClient) ListAliases(ctx context.Context, opts *ListAliasesOptions) iter.Seq2[models.Alias, error] {
	return listDefinitions(ctx, c.manager, aliasKind(), "ListAliases", listed((*ListIndexesOptions)(opts)), aliasKind().name)
}

// DeleteAliasOptions are the options of IndexClient.DeleteAlias. nil and the
// zero value are ready to use.
type DeleteAliasOptions struct {
	// IfMatch deletes the alias only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteAlias deletes an alias, but not its index. If the alias does not exist, the error is ErrAliasNotFound; a
// retry after a lost reply can get it too.
func (c *IndexClient) DeleteAlias(ctx context.Context, name string, opts *DeleteAliasOptions) error {
	if opts == nil {
		opts = &DeleteAliasOptions{}
	}
	return aliasKind().delete(ctx, c.manager, "DeleteAlias", name, opts.IfMatch)
}
