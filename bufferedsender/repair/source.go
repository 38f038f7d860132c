package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Functions is a Source made of functions. Its rows must have a Version exactly if those of the index have one. Only
// LookupKeys may be nil.
type Functions struct {
	// ScanRows implements Source.Scan.
	ScanRows func(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// LookupKeys implements Source.Lookup. Defaults to a scan from the lowest to the highest of the keys, which is slow if
	// they are far apart.
	LookupKeys func(ctx context.Context, keys []string) ([]models.Row, error)
	// ReadKeys implements Source.Read; see Uploads.
	ReadKeys func(ctx context.Context, keys []string) ([]models.RawAction, error)
}

// Scan implements Source.
func (f Functions) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	if f.ScanRows == nil {
		return func(yield func(models.Row, error) bool) {
			yield(models.Row{}, errors.New("the function ScanRows of the source is nil"))
		}
	}
	return f.ScanRows(ctx, after, through)
}

// Lookup implements Source.
func (f Functions) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if f.LookupKeys != nil {
		return f.LookupKeys(ctx, keys)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	var rows []models.Row
	for row, err := range f.Scan(ctx, before(slices.Min(keys)), slices.Max(keys)) {
		if err != nil {
			return nil, err
		}
		if wanted[row.Key] {
			rows = append(rows, row)
		}
	}
	return rows, ctx.Err()
}

// before returns a key slightly less than the given one. Keys between the two are scanned and then ignored.
func before(key string) string {
	if key == "" {
		return ""
	}
	last := len(key) - 1
	if key[last] == 0 {
		return key[:last]
	}
	return key[:last] + string([]byte{key[last] - 1})
}

// Read implements Source.
func (f Functions) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	if f.ReadKeys == nil {
		return nil, errors.New("the function ReadKeys of the source is nil")
	}
	return f.ReadKeys(ctx, keys)
}

// Uploads returns a function for Functions.ReadKeys or SQLSource.Load. load returns the existing documents of the given
// keys, in any order; key returns a document's key as its JSON has it.
func Uploads[T any](load func(ctx context.Context, keys []string) ([]T, error), key func(T) string) func(ctx context.Context, keys []string) ([]models.RawAction, error) {
	return func(ctx context.Context, keys []string) ([]models.RawAction, error) {
		documents, err := load(ctx, keys)
		if err != nil {
			return nil, err
		}
		actions := make([]models.RawAction, len(documents))
		for i, d := range documents {
			text, err := json.Marshal(d)
			if err != nil {
				return nil, fmt.Errorf("the document with the key %q: %w", key(d), err)
			}
			actions[i] = models.RawAction{Key: key(d), Type: models.ActionTypeUpload, Document: text}
		}
		return actions, nil
	}
}
