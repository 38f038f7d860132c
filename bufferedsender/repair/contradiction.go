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
	sampleMost = 1000 // rows that are read to find them
)

// A key that is not text may be visible to only one of Scan and Lookup: in SQLite no number is greater than '', and no
// blob equals text. Then no difference is ever confirmed, and a broken source looks like a perfect index.

// contradiction returns an error if Scan and Lookup of the source disagree about which rows exist. It runs before
// deletes, and when a scan and a lookup differ in some keys, until both have agreed once; usually concurrent changes
// explain the difference. It looks up the first rows of a scan, scans again, and after a pause looks them up again.
// They disagree if Lookup finds none of these rows, nor any of keys, both times; or if both scans have no rows and
// Lookup finds some of keys.
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
		return nil // all rows are hidden, which proves nothing
	}
	after, more, err := p.sample(ctx)
	if err != nil {
		return err
	}
	still := slices.IndexFunc(after, func(key string) bool { return slices.Contains(before, key) })
	switch {
	case !any && !more:
		return fmt.Errorf("%w: Scan returns no rows, but Lookup finds %q. %s", ErrContradiction, asked[known], notText)
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
		return fmt.Errorf("%w: Scan returns %q, but Lookup finds neither it nor %d other keys. %s", ErrContradiction, after[still], len(before)-1, notText)
	}
	return nil
}

// notText is the remedy for a contradiction.
const notText = "Both must have the same keys, and keys must be text: if the column of a SQLSource is not, use Key: \"CAST(id AS TEXT)\", with COLLATE \"C\" in PostgreSQL; AS CHAR in MySQL, AS VARCHAR(36) with a binary collation in SQL Server"

// sample returns up to sampleRows visible keys of a scan of the source, and whether the scan has any rows.
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

// appears reports whether a row of the source exists and is not hidden.
func appears(r *models.Row) bool { return r != nil && r.Key != "" && !r.Hidden }
