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
	// Version is the lowest version that the document must have. It needs RowsOptions.Version. Defaults to 0: any
	// version.
	Version int64
	// Gone waits until the document is not in the index, or does not match the filter. It excludes Version.
	Gone bool
}

// NotVisibleError means that ctx ended before the index showed the wanted state. Seen describes the last lookup.
type NotVisibleError struct {
	Key     string
	Want    string // as text
	Seen    string // as text; "" if no lookup completed
	Lookups int
	Waited  time.Duration
	Err     error // the error of ctx
}

func (e *NotVisibleError) Error() string {
	seen := "no lookup completed"
	if e.Seen != "" {
		seen = fmt.Sprintf("after %d lookups the index shows %s", e.Lookups, e.Seen)
	}
	return fmt.Sprintf("search: WaitVisible: document %q: waited %v for %s; %s: %v", e.Key, e.Waited.Round(time.Millisecond), e.Want, seen, e.Err)
}

// Unwrap returns Err.
func (e *NotVisibleError) Unwrap() error { return e.Err }

// WaitVisible waits until the index shows a document. A program needs it to read its own write, because the service
// shows a write only seconds after it has confirmed it. With options it waits for a version, or until the document is
// gone. The first lookup is at once and the second after 50 ms; each further pause is half as long again, up to 2 s.
//
// Each lookup shows the state of one replica, and another may be behind. If there are several replicas, read with the
// same RowsOptions.SessionID. DeleteMatching does not need WaitVisible, because it waits itself.
//
// ctx bounds the wait. When it ends, the error is a *NotVisibleError with that of ctx in its chain. The error of a
// lookup also ends the wait, because the client has already retried it.
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
	earlier := false // the first lookup reads the definition, further ones use what it found
	for pause := firstLookPause; ; pause = min(pause+pause/2, longestLookPause) {
		seen, fine, err := o.look(ctx, rows, key, earlier)
		if err == nil && fine && o.Gone && earlier { // it may have been hidden meanwhile
			seen, fine, err = o.look(ctx, rows, key, false)
		}
		earlier = err == nil
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
		problems = append(problems, errors.New("rows is nil"))
	}
	if key == "" {
		problems = append(problems, errors.New("the key is empty"))
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
		return "its deletion"
	case o.Version != 0:
		return fmt.Sprintf("version %d", o.Version)
	default:
		return "its appearance"
	}
}

// look looks the key up, as Rows.lookup does. It returns a description of the found state, and whether that is the
// wanted one.
func (o *VisibleOptions) look(ctx context.Context, index *Rows, key string, earlier bool) (seen string, fine bool, err error) {
	rows, err := index.lookup(ctx, []string{key}, earlier)
	if err != nil {
		return "", false, err
	}
	for _, row := range rows {
		switch {
		case row.Key != key:
			continue
		case o.Gone:
			return "the document", false, nil
		case o.Version == 0 || row.Version >= o.Version && row.Version != 0:
			return "", true, nil
		case row.Version == 0: // the version may be written later
			return "the document without a version, whose field RowsOptions.Version must name", false, nil
		}
		return fmt.Sprintf("version %d", row.Version), false, nil
	}
	return "no such document", o.Gone, nil
}
