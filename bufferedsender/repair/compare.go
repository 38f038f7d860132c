package repair

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Sizes of a pass.
const (
	pageRows  = 10_000 // rows of both sides after which a page ends
	pageFound = 500    // or differences
	chunkRows = 1000   // rows that a side is read ahead
	oddAtMost = 100    // rows with a problem that are left out of a page with no other row
)

// difference is a key in which the sides differ.
type difference struct {
	key    string
	kind   Kind
	source models.Row // zero if it is not there
	index  models.Row
}

// keysIn returns the keys of differences, in their order.
func keysIn(all []difference) []string {
	keys := make([]string, len(all))
	for i, d := range all {
		keys[i] = d.key
	}
	return keys
}

// page is a part of a range that was compared.
type page struct {
	through string // its last key
	last    bool   // the range ends with it

	source, index, hidden int64
	odd                   int64 // rows of the source with a problem
	found                 []difference
}

// failing is the error of a page whose source has many rows, each with a problem: that is the source, not its rows.
func (p *page) failing() error {
	if p.odd > oddAtMost && p.odd == p.source {
		d := p.found[slices.IndexFunc(p.found, func(d difference) bool { return d.source.Problem != "" })]
		return fmt.Errorf("none of %d rows of the source can be compared: the key %q: %s", p.odd, d.key, d.source.Problem)
	}
	return nil
}

// compareRows returns how the index differs, or "" if it does not. Either row may be nil.
func compareRows(source, index *models.Row) Kind {
	there := source != nil && !source.Hidden
	switch {
	case orZero(source).Problem != "" || orZero(index).Problem != "":
		return Unreadable
	case !there && index == nil:
		return ""
	case source == nil, !there && source.Version == 0:
		return Surplus
	case index == nil:
		return Missing
	case source.Version < index.Version:
		return Ahead
	case !there:
		return Surplus
	case source.Version > index.Version, source.Digest != index.Digest:
		return Different
	}
	return ""
}

func orZero(r *models.Row) models.Row {
	if r == nil {
		return models.Row{}
	}
	return *r
}

// comparePages merges two scans of (after, through] and gives each page to yield; an error of it ends the comparison.
func comparePages(ctx context.Context, source, index Index, after, through string, yield func(*page) error) error {
	ctx, cancel := context.WithCancel(ctx)
	s := newSide(ctx, "source", source, after, through)
	i := newSide(ctx, "index", index, after, through)
	defer func() {
		cancel()
		s.drain()
		i.drain()
	}()
	give := func(p *page) error {
		if err := p.failing(); err != nil {
			return err
		}
		return yield(p)
	}
	p := &page{through: after}
	for {
		a, err := s.head()
		if err != nil {
			return err
		}
		b, err := i.head()
		if err != nil {
			return err
		}
		switch {
		case a == nil && b == nil:
			p.last = true
			return give(p)
		case a == nil || b != nil && b.Key < a.Key:
			a = nil
		case b == nil || a.Key < b.Key:
			b = nil
		}
		if a != nil {
			p.through = a.Key
			p.source++
			if a.Hidden {
				p.hidden++
			}
			if a.Problem != "" {
				p.odd++
			}
			s.next()
		}
		if b != nil {
			p.through = b.Key
			p.index++
			i.next()
		}
		if kind := compareRows(a, b); kind != "" {
			p.found = append(p.found, difference{p.through, kind, orZero(a), orZero(b)})
		}
		if p.source+p.index >= pageRows || len(p.found) >= pageFound {
			if err := give(p); err != nil {
				return err
			}
			p = &page{through: p.through}
		}
	}
}

// side is a scan that is read ahead.
type side struct {
	ctx            context.Context //nolint:containedctx // of the scan, which this is
	name           string
	chunks         <-chan chunk
	after, through string // of which only rows are expected

	rows []models.Row
	err  error // behind rows
	end  bool  // there are no more behind rows
	last string
	any  bool // last is the key before rows[0]
}

type chunk struct {
	rows []models.Row
	err  error
	end  bool
}

func newSide(ctx context.Context, name string, from Index, after, through string) *side {
	chunks := make(chan chunk, 1)
	s := &side{ctx: ctx, name: name, chunks: chunks, after: after, through: through}
	go func() {
		defer close(chunks)
		send(ctx, from.Scan(ctx, after, through), chunks)
	}()
	return s
}

// send sends the rows in chunks, the last one with end or an error. When ctx ends there may be no last one: a scan
// that stopped because of it is not at its end.
func send(ctx context.Context, rows iter.Seq2[models.Row, error], to chan<- chunk) {
	var c chunk
	flush := func() bool {
		select {
		case to <- c:
			c = chunk{}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for row, err := range rows {
		if err != nil {
			c.err = err
			flush() // a reader that has gone needs no error
			return
		}
		if c.rows = append(c.rows, row); len(c.rows) == chunkRows && !flush() {
			return
		}
	}
	if c.err = ctx.Err(); c.err == nil {
		c.end = true
	}
	flush() // a reader that has gone needs no end
}

// head returns the next row, or nil at the end.
func (s *side) head() (*models.Row, error) {
	for len(s.rows) == 0 {
		if s.err != nil {
			return nil, fmt.Errorf("scan the %s: %w", s.name, s.err)
		}
		if s.end {
			return nil, nil
		}
		c, ok := <-s.chunks
		if s.rows, s.err, s.end = c.rows, c.err, c.end; !ok {
			s.err = s.ctx.Err()
		}
	}
	row := &s.rows[0]
	before := s.last
	if !s.any {
		before = s.after
	}
	switch {
	case row.Key == "":
		return nil, fmt.Errorf("the %s has a row without a key", s.name)
	case row.Key <= before:
		return nil, &OrderError{Side: s.name, After: before, Key: row.Key}
	case s.through != "" && row.Key > s.through:
		return nil, fmt.Errorf("the scan of the %s was to end with %q, and has the key %q: compare keys by their bytes in its conditions too", s.name, s.through, row.Key)
	}
	return row, nil
}

// next goes behind the head.
func (s *side) next() {
	s.last, s.any = s.rows[0].Key, true
	s.rows = s.rows[1:]
}

// drain waits for the goroutine that reads; its context must have ended.
func (s *side) drain() {
	for range s.chunks { // what it has read is of no use
	}
}
