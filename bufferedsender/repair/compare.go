package repair

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Sizes.
const (
	pageRows  = 10_000 // rows of both sides after which a page ends
	pageFound = 500    // differences after which a page ends
	chunkRows = 1000   // rows of a side that are read ahead
	oddAtMost = 100    // rows with a problem that a page may have if it has no others
)

// difference is a key in which the sides differ.
type difference struct {
	key    string
	kind   Kind
	source models.Row // zero if the source lacks the row
	index  models.Row
}

// keysIn returns the keys of differences, in the same order.
func keysIn(all []difference) []string {
	keys := make([]string, len(all))
	for i, d := range all {
		keys[i] = d.key
	}
	return keys
}

// page is a compared part of a range.
type page struct {
	through string // its last key
	last    bool   // the range ends here

	source, index, hidden int64
	odd                   int64 // rows of the source with a problem
	found                 []difference
}

// failing returns an error if all of many rows of the source have a problem: then the source is at fault, not its rows.
func (p *page) failing() error {
	if p.odd > oddAtMost && p.odd == p.source {
		d := p.found[slices.IndexFunc(p.found, func(d difference) bool { return d.source.Problem != "" })]
		return fmt.Errorf("none of %d rows of the source can be compared: the key %q: %s", p.odd, d.key, d.source.Problem)
	}
	return nil
}

// compareRows returns how the index differs from the source, "" for not at all. Either row may be nil.
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

// comparePages merges two scans of (after, through] and passes each page to yield. An error of yield ends the
// comparison.
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
	after, through string // bounds of the keys

	rows []models.Row
	err  error // after rows
	end  bool  // no rows follow rows
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

// send sends the rows in chunks; the last chunk has end or an error. If ctx ends there may be no last chunk: a scan cut
// off by ctx has not reached its end.
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
			flush() // the reader may have gone
			return
		}
		if c.rows = append(c.rows, row); len(c.rows) == chunkRows && !flush() {
			return
		}
	}
	if c.err = ctx.Err(); c.err == nil {
		c.end = true
	}
	flush() // the reader may have gone
}

// head returns the next row, nil at the end.
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
		return nil, fmt.Errorf("the scan of the %s should end with %q, but returned the key %q: its conditions must compare keys by bytes too", s.name, s.through, row.Key)
	}
	return row, nil
}

// next moves behind the head.
func (s *side) next() {
	s.last, s.any = s.rows[0].Key, true
	s.rows = s.rows[1:]
}

// drain waits for the reading goroutine; its context must have ended.
func (s *side) drain() {
	for range s.chunks { // discarded
	}
}
