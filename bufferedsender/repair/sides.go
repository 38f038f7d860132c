package repair

import (
	"context"
	"errors"
	"iter"

	"github.com/go-azsearch/azsearch/models"
)

// checkVersions returns an error if the one side has versions, and the other one does not. Only models.Versioned says
// so: versions of rows do not, because a field that was added to an index is empty in all documents at first.
func checkVersions(source Source, index Index) error {
	s, known := source.(models.Versioned)
	i, too := index.(models.Versioned)
	switch {
	case !known || !too || s.HasVersions() == i.HasVersions():
		return nil
	case s.HasVersions():
		return errors.New("the source has versions and the index has none (HasVersions), so every document would differ for ever: set search.RowsOptions.Version for the index, or leave the version out of the source")
	default:
		return errors.New("the index has versions and the source has none (HasVersions), so every document would be ahead of it and none repaired: set SQLSource.Version or JSONLOptions.Version for the source, or leave the version out of the index")
	}
}

// Index is the index that is compared. A *search.Rows is one. Its methods are called by several goroutines at once.
// One that has the method HasVersions() bool is refused where that of the Source says otherwise; a type that embeds
// another and adds versions needs one of its own.
type Index interface {
	// Scan yields the rows behind the key after, up to and with the key through, in the order of the bytes of their
	// keys; "" is no bound. An error is the last.
	Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error]
	// Lookup returns the rows of those of the keys that are there, in any order.
	Lookup(ctx context.Context, keys []string) ([]models.Row, error)
}

// Source is what the index is to be like: a table (SQLSource), a file (JSONL), or whatever has these methods
// (Functions). They are called by several goroutines at once, and must read what was committed last: a replica that
// lags is older than the index. Scan may be of an earlier moment, that of a transaction for example; Lookup and Read
// must not. HasVersions is as in Index.
type Source interface {
	Index
	// Read returns what makes the index have what is true of the keys now: an upload for each that exists and is to
	// be in the index. It may be another type of action, but no delete. A key that is not in the answer does not
	// exist, or is hidden; so an answer that is not complete must be an error.
	Read(ctx context.Context, keys []string) ([]models.RawAction, error)
}

// Sender is what repairs: the *bufferedsender.RawSender of any sender.
type Sender interface {
	// HoldKeys runs act while nothing else is written to the keys by this sender; what act adds goes first.
	HoldKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error
	// Contains says of each key whether anything of it is accepted and not settled.
	Contains(keys ...string) []bool
	// Info says what the sender is like, and how much it has to do.
	Info() models.SenderInfo
}
