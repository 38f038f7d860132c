package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
)

// VisibleOptions are the options of WaitVisible. nil and the zero value are ready to use.
type VisibleOptions struct {
	// Version is the version that the document must have at least. It needs RowsOptions.Version. Defaults to 0: any.
	Version int64
	// Gone waits until the index does not show the document any more, or its filter does not. Not with Version.
	Gone bool
}

// NotVisibleError says what the index has shown last, when ctx ended.
type NotVisibleError struct {
	Key     string
	Want    string // in words
	Seen    string // in words; "" if no lookup has ended
	Lookups int
	Waited  time.Duration
	Err     error // that of ctx
}

func (e *NotVisibleError) Error() string {
	seen := "no lookup has ended"
	if e.Seen != "" {
		seen = fmt.Sprintf("after %d lookups the index shows %s", e.Lookups, e.Seen)
	}
	return fmt.Sprintf("search: WaitVisible: the document %q: %s was waited for, for %v, and %s: %v", e.Key, e.Want, e.Waited.Round(time.Millisecond), seen, e.Err)
}

// Unwrap returns Err.
func (e *NotVisibleError) Unwrap() error { return e.Err }

// WaitVisible returns when the index shows a document: for reading what was written, which the service shows some
// seconds after it has confirmed it. By option it waits for a version, or until the document is gone. The first
// lookup is at once, the second after 50 ms; each pause is half as long again as the one before, up to 2 s.
//
// The index is that of one replica, the one that answers: another may be behind, so read with the same
// RowsOptions.SessionID if there are several. DeleteMatching waits by itself, and needs no Rows.
//
// ctx bounds the waiting: when it ends the error is a *NotVisibleError with that of ctx in its chain. An error of a
// lookup ends it too: clients have tried again already.
func WaitVisible(ctx context.Context, rows *Rows, key string, opts *VisibleOptions) error {
	o := opts
	if o == nil {
		o = &VisibleOptions{}
	}
	if err := o.check(rows, key); err != nil {
		return fmt.Errorf("search: WaitVisible: %w", err)
	}
	began := time.Now()
	e := &NotVisibleError{Key: key, Want: o.want()}
	for pause := firstLookPause; ; pause = min(pause+pause/2, longestLookPause) {
		seen, fine, err := o.look(ctx, rows, key)
		switch {
		case err == nil && fine:
			return nil
		case err == nil:
			e.Lookups++
			e.Seen = seen
		case ctx.Err() == nil:
			return fmt.Errorf("search: WaitVisible: the document %q: %w", key, err)
		}
		if err := sleep.For(ctx, pause); err != nil {
			e.Err, e.Waited = err, time.Since(began)
			return e
		}
	}
}

func (o *VisibleOptions) check(rows *Rows, key string) error {
	var problems []error
	if rows == nil {
		problems = append(problems, errors.New("there are no Rows"))
	}
	if key == "" {
		problems = append(problems, errors.New("there is no key"))
	}
	if rows != nil && o.Version != 0 && !rows.HasVersions() {
		problems = append(problems, errors.New("the Rows have no versions to wait for: set RowsOptions.Version to the field with the version"))
	}
	if o.Gone && o.Version != 0 {
		problems = append(problems, errors.New("got Gone and Version, want one of them"))
	}
	return errors.Join(problems...)
}

func (o *VisibleOptions) want() string {
	switch {
	case o.Gone:
		return "its end"
	case o.Version != 0:
		return fmt.Sprintf("version %d", o.Version)
	default:
		return "it"
	}
}

// look looks the key up, and says in words what there is, and whether that is what is waited for.
func (o *VisibleOptions) look(ctx context.Context, index *Rows, key string) (seen string, fine bool, err error) {
	rows, err := index.Lookup(ctx, []string{key})
	if err != nil {
		return "", false, err
	}
	for _, row := range rows {
		switch {
		case row.Key != key:
			continue
		case o.Gone:
			return "it still", false, nil
		case o.Version == 0 || row.Version >= o.Version && row.Version != 0:
			return "", true, nil
		case row.Version == 0: // it may come: a field that is empty yet
			return "it without a version, whose field RowsOptions.Version must name", false, nil
		}
		return fmt.Sprintf("version %d", row.Version), false, nil
	}
	return "no such document", o.Gone, nil
}
