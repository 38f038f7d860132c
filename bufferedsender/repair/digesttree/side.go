package digesttree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Side is what a Tree is compared with: another Tree, a source that is Scanned, or whatever has digests of segments. The digests are those of this package:
// who implements it elsewhere passes on what a Tree there answers. Its methods are called by one goroutine at a time.
type Side interface {
	// Snapshot reads what there is now, as digests of two to the power of bits segments. If only is not nil, it has the segments that matter: their
	// rows may be asked for, and of the digests those of others and all sums need not be right. The error is ErrShape if the side has another number of segments.
	Snapshot(ctx context.Context, bits int, only []int) (Snapshot, error)
	// Lookup returns the rows of those of the keys that are there now, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Snapshot is a Side at a moment. All of its answers are about the same moment.
type Snapshot interface {
	// Root returns the sum of all digests.
	Root(ctx context.Context) (uint64, error)
	// Branches returns their sums by branch.
	Branches(ctx context.Context) ([]uint64, error)
	// Segments returns the digests of the segments of a branch.
	Segments(ctx context.Context, branch int) ([]uint64, error)
	// Unknown returns the segments that are not to be compared.
	Unknown(ctx context.Context) ([]int, error)
	// Rows returns the keys and versions of a segment that matters, in any order.
	Rows(ctx context.Context, segment int) ([]models.Row, error)
	// Close ends it.
	Close() error
}

// Snapshot implements Side.
func (t *Tree) Snapshot(ctx context.Context, bits int, only []int) (Snapshot, error) {
	if bits != t.shape.bits {
		return nil, fmt.Errorf("%w: %d bits, not %d", ErrShape, t.shape.bits, bits)
	}
	some, err := t.shape.some(only)
	if err != nil {
		return nil, err
	}
	v, err := t.view(some)
	if err != nil {
		return nil, err
	}
	if err := v.compute(ctx); err != nil {
		return nil, errors.Join(err, v.release())
	}
	return &snapshot{t.shape, v.digests, v.built, v.rows, v.release}, nil
}

// some returns by segment whether it is in a list; nil: all are.
func (s shape) some(list []int) ([]bool, error) {
	if list == nil {
		return nil, nil
	}
	all := make([]bool, s.segments())
	for _, segment := range list {
		if segment < 0 || segment >= len(all) {
			return nil, fmt.Errorf("%w: there is no segment %d", ErrShape, segment)
		}
		all[segment] = true
	}
	return all, nil
}

// Lookup implements Side.
func (t *Tree) Lookup(_ context.Context, keys []string) (found []models.Row, err error) {
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

// snapshot is what a side has, computed.
type snapshot struct {
	shape   shape
	digests []uint64
	built   []int64 // 0: unknown; nil: all are known
	rows    func(segment int) ([]models.Row, error)
	close   func() error
}

func (s *snapshot) Root(context.Context) (uint64, error) {
	return sums(s.digests, len(s.digests))[0], nil
}

func (s *snapshot) Branches(context.Context) ([]uint64, error) {
	return sums(s.digests, s.shape.perBranch()), nil
}

func (s *snapshot) Segments(_ context.Context, branch int) ([]uint64, error) {
	n := s.shape.perBranch()
	if branch < 0 || branch >= s.shape.branches() {
		return nil, ErrShape
	}
	return s.digests[branch*n : (branch+1)*n : (branch+1)*n], nil
}

func (s *snapshot) Unknown(context.Context) (all []int, err error) {
	for segment, built := range s.built {
		if built == 0 {
			all = append(all, segment)
		}
	}
	return all, nil
}

func (s *snapshot) Rows(_ context.Context, segment int) ([]models.Row, error) {
	if segment < 0 || segment >= s.shape.segments() {
		return nil, ErrShape
	}
	return s.rows(segment)
}

func (s *snapshot) Close() error { return s.close() }
