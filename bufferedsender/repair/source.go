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

// Functions makes a Source of functions, whatever it is that they read. Its rows have a Version if those of the index
// have one. None may be nil but LookupKeys.
type Functions struct {
	// ScanRows is Source.Scan.
	ScanRows func(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// LookupKeys is Source.Lookup. Defaults to a scan from the first to the last of the keys, which is slow where
	// they are far apart.
	LookupKeys func(ctx context.Context, keys []string) ([]models.Row, error)
	// ReadKeys is Source.Read; see Uploads.
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

// before returns a key that is less than another one, and near.
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

// Uploads makes a function for Functions.ReadKeys, or for SQLSource.Load, of one that loads the documents of some
// keys: all that exist, in any order. key returns that of a document, as it is in its JSON.
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
