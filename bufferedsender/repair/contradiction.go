package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

const (
	sampleRows = 100  // visible rows of a scan that are looked up
	sampleMost = 1000 // rows that are read for them
)

// Keys that are not text are seen by one query and not by the other: in SQLite no number is more than '', and no blob
// equals text. Then every difference passes, and a pass that has repaired nothing looks like one with nothing to do.

// contradiction returns an error if Scan and Lookup of the source do not know the same rows. It is asked when the
// scan and a lookup differ in some keys, which changes that others make explain as a rule, or before something is
// deleted, until it is known that they do: it looks up the first rows of a scan, scans again, and looks them up
// again. It is a contradiction if there are rows before and after, and Lookup finds none of them, nor another key,
// both times; or if there is none before and after, and Lookup finds some of the keys.
func (p *pass) contradiction(ctx context.Context, keys []string) error {
	if len(keys) == 0 || p.agreed.Load() {
		return nil
	}
	before, any, err := p.sample(ctx)
	if err != nil {
		return err
	}
	asked := slices.Clone(before)
	for _, key := range keys[:min(len(keys), sampleRows)] {
		if !slices.Contains(before, key) {
			asked = append(asked, key)
		}
	}
	found, err := lookup(ctx, p.source, asked)
	if err != nil {
		return fmt.Errorf("look up keys in the source: %w", err)
	}
	there := func(key string) bool { return found[key] != nil && !found[key].Hidden }
	known := slices.IndexFunc(asked, there)
	if any == (known >= 0) {
		p.agreed.Store(true)
		return nil
	}
	if any && len(before) == 0 {
		return nil // all are hidden, which says nothing
	}
	after, more, err := p.sample(ctx)
	if err != nil {
		return err
	}
	still := slices.IndexFunc(after, func(key string) bool { return slices.Contains(before, key) })
	switch {
	case !any && !more:
		return fmt.Errorf("%w: Scan has no row, and Lookup finds %q. %s", ErrContradiction, asked[known], notText)
	case any && still >= 0:
		if err := sleep.For(ctx, p.pause()); err != nil { // rows may come and go
			return err
		}
		if found, err = lookup(ctx, p.source, asked); err != nil {
			return fmt.Errorf("look up keys in the source: %w", err)
		}
		if slices.ContainsFunc(asked, there) {
			p.agreed.Store(true)
			return nil
		}
		return fmt.Errorf("%w: Scan has %q, and Lookup does not find it, nor %d other keys. %s", ErrContradiction, after[still], len(before)-1, notText)
	}
	return nil
}

// notText is what to do about it.
const notText = "Both are to have the same keys, which are text: if the column of a SQLSource is not, use Key: \"CAST(id AS TEXT)\", with COLLATE \"C\" in PostgreSQL; AS CHAR in MySQL, AS VARCHAR(36) with a binary collation in SQL Server"

// sample returns the first keys of a scan of the source that are not hidden, and whether there is any row.
func (p *pass) sample(ctx context.Context) (keys []string, any bool, err error) {
	n := 0
	for row, err := range p.source.Scan(ctx, "", "") {
		if err != nil {
			return nil, false, fmt.Errorf("scan the source: %w", err)
		}
		if !row.Hidden {
			keys = append(keys, row.Key)
		}
		if n++; n == sampleMost || len(keys) == sampleRows {
			break
		}
	}
	return keys, n > 0, ctx.Err()
}

// appears reports whether a source shows a row, which is not hidden.
func appears(r *models.Row) bool { return r != nil && r.Key != "" && !r.Hidden }
