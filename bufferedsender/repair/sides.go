package repair

import (
	"context"
	"errors"
	"iter"

	"github.com/go-azsearch/azsearch/models"
)

// checkVersions returns an error if only one side has versions. It relies on models.Versioned and not on the rows: a
// version field added to an index is empty in all documents at first.
func checkVersions(source Source, index Index) error {
	s, known := source.(models.Versioned)
	i, too := index.(models.Versioned)
	switch {
	case !known || !too || s.HasVersions() == i.HasVersions():
		return nil
	case s.HasVersions():
		return errors.New("the source has versions and the index has none (HasVersions), so every document would differ forever: set search.RowsOptions.Version for the index, or leave the version out of the source")
	default:
		return errors.New("the index has versions and the source has none (HasVersions), so every document would be ahead of it and none repaired: set SQLSource.Version or JSONLOptions.Version for the source, or leave the version out of the index")
	}
}

// Index reads the index that is compared. A *search.Rows is one. Its methods must be safe for concurrent use. If it has
// the method HasVersions() bool, a Source that returns another value is refused. A type that embeds an Index and adds
// versions needs its own HasVersions.
type Index interface {
	// Scan yields the rows with keys greater than after and at most through, in byte order of the keys. An empty bound does
	// not limit. Scan stops after its first error.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of the keys that exist, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Source is the truth that the index must match: a table (SQLSource), a file (JSONL), or any type with these methods
// (Functions). Its methods must be safe for concurrent use, and must read the latest committed data, which a lagging
// replica does not. Scan may read an older snapshot, for example of a transaction; Lookup and Read must not.
// HasVersions is as in Index. A Lookup or Read has a minute, and a Scan five minutes for each row; then the pass ends.
type Source interface {
	Index
	// Read returns the actions that bring the index to the current truth of the keys: an upload, or another type except a
	// delete, for each document that exists and belongs in the index. A key missing in the answer counts as deleted or
	// hidden, so an incomplete answer must be an error.
	Read(ctx context.Context, keys []string) ([]models.RawAction, error)
}

// Sender writes the repairs: the *bufferedsender.RawSender of any sender.
type Sender interface {
	// HoldKeys calls act while this sender writes nothing else to the keys. Actions that act adds go before all that were
	// accepted meanwhile.
	HoldKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error
	// Contains reports for each key whether the sender has unsettled actions of it.
	Contains(keys ...string) []bool
	// Info returns the properties and the load of the sender.
	Info() models.SenderInfo
}
