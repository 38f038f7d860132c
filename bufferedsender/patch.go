package bufferedsender

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/models"
)

// MergePatch adds actions that change some fields of existing documents.
func (s *sender) MergePatch(ctx context.Context, patches ...*models.Patch) error {
	return s.addPatches(ctx, models.ActionTypeMerge, patches)
}

// MergeOrUploadPatch is MergePatch, but creates missing documents.
func (s *sender) MergeOrUploadPatch(ctx context.Context, patches ...*models.Patch) error {
	return s.addPatches(ctx, models.ActionTypeMergeOrUpload, patches)
}

func (s *sender) addPatches(ctx context.Context, typ models.ActionType, patches []*models.Patch) error {
	if len(patches) == 0 {
		return nil
	}
	ctx = orBackground(ctx)
	if err := ended(ctx); err != nil {
		return &AddError{Err: err}
	}
	field, err := s.keyField.resolve(ctx)
	if err != nil {
		return &AddError{Err: err}
	}
	keyField, err := models.KeyFieldByName[*models.Patch](field)
	if err != nil {
		return &AddError{Err: err}
	}
	return s.addAll(ctx, len(patches), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		if patches[i] == nil {
			return "", unfit(errors.New("the patch is nil: make one with models.NewPatch"))
		}
		key, err := keyField.Get(patches[i])
		if err != nil {
			return "", unfit(err)
		}
		c.header.typ, c.patch = typ, patches[i]
		defer func() { c.patch = nil }()
		return key, c.addKeyed(ctx, key)
	})
}
