package digesttree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Source is rows that can be read in one scan and by key: a source of package repair, for example. Its methods are
// called by one goroutine at a time.
type Source interface {
	// Scan yields the rows behind the key after, up to and with the key through; "" is no bound. An error is the last.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of those of the keys that are there, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// side is one of two that are compared.
type side interface {
	// snapshot reads what there is now, as digests of two to the power of bits segments. If only is not nil, it has
	// the segments that matter: their rows can be asked for, and the digests of others need not be right.
	snapshot(ctx context.Context, bits int, only []int) (*snapshot, error)
	lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// snapshot is a side at a moment.
type snapshot struct {
	digests []uint64
	built   []int64 // 0: unknown; nil: all are known
	rows    func(segment int) ([]models.Row, error)
	close   func() error
}

func (s *snapshot) known(segment int) bool { return s.built == nil || s.built[segment] != 0 }

func (t *Tree) snapshot(ctx context.Context, bits int, only []int) (*snapshot, error) {
	if bits != t.shape.bits {
		return nil, fmt.Errorf("%w: got %d bits, want %d", ErrShape, bits, t.shape.bits)
	}
	v, err := t.view(t.shape.some(only))
	if err != nil {
		return nil, err
	}
	if err := v.compute(ctx); err != nil {
		return nil, errors.Join(err, v.release())
	}
	return &snapshot{v.digests, v.built, v.rows, v.release}, nil
}

// some returns by segment whether it is in a list; nil: all are.
func (s shape) some(list []int) []bool {
	if list == nil {
		return nil
	}
	all := make([]bool, s.segments())
	for _, segment := range list {
		all[segment] = true
	}
	return all
}

func (t *Tree) lookup(_ context.Context, keys []string) (found []models.Row, err error) {
	wanted, some := make(map[int][]string), make([]bool, t.shape.segments())
	for _, key := range keys {
		segment := t.shape.segment(hashOf(key))
		wanted[segment], some[segment] = append(wanted[segment], key), true
	}
	v, err := t.view(some)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	for segment, keys := range wanted {
		rows, err := v.rows(segment)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if slices.Contains(keys, r.Key) {
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// scanned is the side of a source: it keeps digests, and the rows of the segments that matter, in memory. Rows that
// are Hidden are left out.
type scanned struct{ source Source }

func (s scanned) snapshot(ctx context.Context, bits int, only []int) (*snapshot, error) {
	shape := shape{bits}
	digests, wanted, kept := make([]uint64, shape.segments()), shape.some(only), make(map[int][]models.Row, len(only))
	for row, err := range s.source.Scan(ctx, "", "") {
		if err != nil {
			return nil, err
		}
		if row.Hidden {
			continue
		}
		hash := hashOf(row.Key)
		segment := shape.segment(hash)
		digests[segment] += digestOf(hash, row.Version)
		if wanted != nil && wanted[segment] {
			kept[segment] = append(kept[segment], models.Row{Key: row.Key, Version: row.Version})
		}
	}
	if err := ctx.Err(); err != nil { // a source that ends early is not one that has less
		return nil, context.Cause(ctx)
	}
	rows := func(segment int) ([]models.Row, error) { return kept[segment], nil }
	return &snapshot{digests, nil, rows, func() error { return nil }}, nil
}

func (s scanned) lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	rows, err := s.source.Lookup(ctx, keys)
	if err == nil && ctx.Err() != nil { // as in snapshot
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r models.Row) bool { return r.Hidden }), nil
}
