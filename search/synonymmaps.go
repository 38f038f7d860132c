package search

import (
	"context"
	"iter"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
)

func synonymMapKind() *definitionKind[models.SynonymMap] {
	return &definitionKind[models.SynonymMap]{
		path:     "/synonymmaps",
		noun:     "synonym map",
		notFound: ErrSynonymMapNotFound,
		check:    namedAtAll("synonym map"),
		named:    func(x *models.SynonymMap) (string, string) { return x.Name, x.ETag },
		diff:     DiffDefinition[models.SynonymMap],
	}
}

// CreateSynonymMapOptions are the options of IndexClient.CreateSynonymMap. There
// are none yet.
type CreateSynonymMapOptions struct{}

// CreateSynonymMap creates a synonym map and returns the stored definition with its ETag. A field uses the map if its
// SynonymMaps name it. If the map exists, the error is an *Error with status 409. A retry after a lost reply can get
// it too, because the first attempt created the map.
func (c *IndexClient) CreateSynonymMap(ctx context.Context, synonyms models.SynonymMap, _ *CreateSynonymMapOptions) (models.SynonymMap, error) {
	return synonymMapKind().create(ctx, c.manager, "CreateSynonymMap", synonyms)
}

// CreateOrUpdateSynonymMapOptions are the options of
// IndexClient.CreateOrUpdateSynonymMap. nil and the zero value are ready to use.
type CreateOrUpdateSynonymMapOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch
	// defaults to the ETag of the map if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateSynonymMap creates a synonym map or replaces an existing one, and returns the stored definition. If a
// condition does not hold, the error is ErrPreconditionFailed.
//
// A map that was read from a service carries an ETag and is written only over that version; see CreateOrUpdateIndex.
// UpdateSynonymMap reads it again in that case.
func (c *IndexClient) CreateOrUpdateSynonymMap(ctx context.Context, synonyms models.SynonymMap, opts *CreateOrUpdateSynonymMapOptions) (models.SynonymMap, error) {
	if opts == nil {
		opts = &CreateOrUpdateSynonymMapOptions{}
	}
	return synonymMapKind().put(ctx, c.manager, "CreateOrUpdateSynonymMap", synonyms, opts.IfMatch, opts.IfNoneMatch)
}

// UpdateSynonymMapOptions are the options of IndexClient.UpdateSynonymMap. nil
// and the zero value are ready to use.
type UpdateSynonymMapOptions struct {
	// MaxAttempts is the total number of times that the map is read and written. Defaults to 5; a negative value means
	// once.
	MaxAttempts int
}

// UpdateSynonymMap reads a synonym map, calls change with it, and writes the result back over the version that was
// read, like UpdateIndex. If the map does not exist, the error is ErrSynonymMapNotFound.
func (c *IndexClient) UpdateSynonymMap(ctx context.Context, name string, change func(*models.SynonymMap) error, opts *UpdateSynonymMapOptions) (models.SynonymMap, error) {
	if opts == nil {
		opts = &UpdateSynonymMapOptions{}
	}
	return update[models.SynonymMap]{
		kind:      synonymMapKind(),
		operation: "UpdateSynonymMap",
		change:    change,
		same:      sameSynonyms,
		attempts:  opts.MaxAttempts,
	}.run(ctx, c.manager, name)
}

// sameSynonyms reports whether two maps expand queries in the same way. It is false if either has other members.
func sameSynonyms(a, b models.SynonymMap) bool {
	return slices.Equal(a.Synonyms, b.Synonyms) && a.Format == b.Format && a.EncryptionKey == nil && b.EncryptionKey == nil &&
		len(a.AdditionalProperties) == 0 && len(b.AdditionalProperties) == 0
}

// GetSynonymMapOptions are the options of IndexClient.GetSynonymMap. There are
// none yet.
type GetSynonymMapOptions struct{}

// GetSynonymMap returns a synonym map. If it does not exist, the error is ErrSynonymMapNotFound.
func (c *IndexClient) GetSynonymMap(ctx context.Context, name string, _ *GetSynonymMapOptions) (models.SynonymMap, error) {
	return synonymMapKind().get(ctx, c.manager, "GetSynonymMap", name)
}

// ListSynonymMapsOptions are the options of IndexClient.ListSynonymMaps. nil
// and the zero value are ready to use.
type ListSynonymMapsOptions ListIndexesOptions

// ListSynonymMaps returns all synonym maps of the service. Each iteration makes the request again when it starts. An
// error ends the iteration and is yielded with a zero map.
func (c *IndexClient) ListSynonymMaps(ctx context.Context, opts *ListSynonymMapsOptions) iter.Seq2[models.SynonymMap, error] {
	return listDefinitions(ctx, c.manager, synonymMapKind(), "ListSynonymMaps", listed((*ListIndexesOptions)(opts)), synonymMapKind().name)
}

// ListSynonymMapNamesOptions are the options of
// IndexClient.ListSynonymMapNames. nil
// and the zero value are ready to use.
type ListSynonymMapNamesOptions ListIndexesOptions

// ListSynonymMapNames is ListSynonymMaps for the names only, which makes the replies much smaller.
func (c *IndexClient) ListSynonymMapNames(ctx context.Context, opts *ListSynonymMapNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, synonymMapKind(), "ListSynonymMapNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteSynonymMapOptions are the options of IndexClient.DeleteSynonymMap. nil
// and the zero value are ready to use.
type DeleteSynonymMapOptions struct {
	// IfMatch deletes the map only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteSynonymMap deletes a synonym map. Fields that name it are searched without synonyms from then on. If the map
// does not exist, the error is ErrSynonymMapNotFound; a retry after a lost reply can get it too.
func (c *IndexClient) DeleteSynonymMap(ctx context.Context, name string, opts *DeleteSynonymMapOptions) error {
	if opts == nil {
		opts = &DeleteSynonymMapOptions{}
	}
	return synonymMapKind().delete(ctx, c.manager, "DeleteSynonymMap", name, opts.IfMatch)
}
