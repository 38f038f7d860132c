package digesttree

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Source is rows that can be read in one go and by key: a source of package repair, for example.
type Source interface {
	// Scan yields the rows behind the key after, up to and with the key through; "" is no bound. An error is the last.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of those of the keys that are there, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Scanned returns a side for something that has no digests: each snapshot reads all of its rows, of which Compare needs one if nothing differs, and two
// otherwise. Rows that are Hidden are left out. It keeps digests, and the rows of the segments that differ, in memory.
//
// Rows are compared by Key and Version. Where the source has no versions, tell the Tree 0 as well; then only missing keys are found.
func Scanned(source Source) Side { return scanned{source} }

type scanned struct{ source Source }

func (s scanned) Snapshot(ctx context.Context, bits int, only []int) (Snapshot, error) {
	if bits < MinSegmentBits || bits > MaxSegmentBits {
		return nil, fmt.Errorf("%w: %d bits", ErrShape, bits)
	}
	all := &snapshot{shape: shape{bits}, digests: make([]uint64, shape{bits}.segments()), close: func() error { return nil }}
	wanted, err := all.shape.some(only)
	if err != nil {
		return nil, err
	}
	kept := make(map[int][]models.Row, len(only))
	for row, err := range s.source.Scan(ctx, "", "") {
		if err != nil {
			return nil, err
		}
		if row.Hidden {
			continue
		}
		hash := hashOf(row.Key)
		segment := all.shape.segment(hash)
		all.digests[segment] += digestOf(hash, row.Version)
		if wanted != nil && wanted[segment] {
			kept[segment] = append(kept[segment], models.Row{Key: row.Key, Version: row.Version})
		}
	}
	if err := ctx.Err(); err != nil { // a source that ends early is not one that has less
		return nil, context.Cause(ctx)
	}
	all.rows = func(segment int) ([]models.Row, error) {
		if wanted == nil || !wanted[segment] {
			return nil, fmt.Errorf("segment %d was not kept", segment)
		}
		return kept[segment], nil
	}
	return all, nil
}

func (s scanned) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	rows, err := s.source.Lookup(ctx, keys)
	if err == nil && ctx.Err() != nil { // as in Snapshot
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r models.Row) bool { return r.Hidden }), nil
}
