package queue

import (
	"errors"
	"fmt"
)

// Sentinels in the error chains of a Queue.
var (
	// ErrClosed: Close was called.
	ErrClosed = errors.New("queue is closed")
	// ErrFull: the queue holds as many keys or bytes as it may. A record that replaces waiting ones is still accepted.
	// Parked keys have a share of their own, as large as the bound; beyond it they take room from others. The error
	// says how many are parked.
	ErrFull = errors.New("queue is full")
	// ErrUnknown: the call may have been applied. Repeat the same call to find out.
	ErrUnknown = errors.New("call may have been applied")
	// ErrTooOld: the back end no longer remembers whether it applied the call.
	ErrTooOld = errors.New("call is too old to repeat")
	// ErrLost: the server lost acknowledged records.
	ErrLost = errors.New("server lost acknowledged records")
	// ErrFailed: the back end failed for good; this object cannot be used any more.
	ErrFailed = errors.New("queue has failed; open it again")
)

// check returns an error that names every problem of a call that can be found without the queue.
func (c *Call) check() error {
	var errs []error
	if c.Adder == (ID{}) {
		errs = append(errs, errors.New("no Adder; use NewID once for each process"))
	}
	if c.Number == 0 {
		errs = append(errs, errors.New("no Number; number the calls of an adder from 1"))
	}
	if n := len(c.Records) + len(c.Folds); n > MaxCall {
		errs = append(errs, fmt.Errorf("got %d records and folds, want at most %d", n, MaxCall))
	}
	for i := range c.Records {
		if err := c.Records[i].check(); err != nil {
			errs = append(errs, fmt.Errorf("record %d: %w", i, err))
		}
	}
	for i := range c.Folds {
		if err := c.Folds[i].check(); err != nil {
			errs = append(errs, fmt.Errorf("fold %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// CheckCall is for back ends: it returns every problem of a call that can be found without the queue, before anything
// is kept.
func CheckCall(c *Call) error { return c.check() }

const (
	maxKey   = 1024
	maxClass = 7
)

func (r *Record) check() error {
	switch {
	case r.Key == "":
		return errors.New("no key")
	case len(r.Key) > maxKey:
		return fmt.Errorf("got a key of %d bytes, want at most %d", len(r.Key), maxKey)
	case r.Op != "" && !r.Op.Valid():
		return fmt.Errorf("unknown Op %q", r.Op)
	case r.Op == "" && len(r.Body) > 0:
		return errors.New(`got a body with Op "", want none`)
	case r.Op != "" && len(r.Body) == 0:
		return errors.New("no body")
	case r.Class > maxClass:
		return fmt.Errorf("got class %d, want at most %d", r.Class, maxClass)
	}
	return nil
}

func (f *Fold) check() error {
	if len(f.Records) >= f.Count {
		return fmt.Errorf("%d records cannot be replaced by %d, want fewer", f.Count, len(f.Records))
	}
	if len(f.Records) == 0 {
		return errors.New("no records; a fold cannot drop waiting records")
	}
	for i := range f.Records {
		if f.Records[i].Key != f.Key {
			return fmt.Errorf("fold of key %q has a record of key %q", f.Key, f.Records[i].Key)
		}
		if err := f.Records[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckWant is for back ends: it returns the problems of a reservation.
func CheckWant(w *Want) error {
	var errs []error
	if w.Token == (ID{}) {
		errs = append(errs, errors.New("no Token; use NewID for each reservation"))
	}
	if w.For <= 0 {
		errs = append(errs, fmt.Errorf("got a lease of %v, want more than 0", w.For))
	}
	if w.Keys < 0 || w.Bytes < 0 || w.Uncertain < 0 {
		errs = append(errs, fmt.Errorf("got keys %d, bytes %d, uncertain %v, want none negative", w.Keys, w.Bytes, w.Uncertain))
	}
	if max(w.Keys, len(w.Only)) > MaxCall {
		errs = append(errs, fmt.Errorf("got %d keys, want at most %d", max(w.Keys, len(w.Only)), MaxCall))
	}
	return errors.Join(errs...)
}

// CheckEnds is for back ends: it returns the problems of the ends of leases.
func CheckEnds(ends []End) error {
	var errs []error
	if len(ends) > MaxCall {
		errs = append(errs, fmt.Errorf("got %d ends, want at most %d", len(ends), MaxCall))
	}
	for i := range ends {
		e := &ends[i]
		switch {
		case e.Fate < Commit || e.Fate > Park:
			errs = append(errs, fmt.Errorf("end %d: unknown fate %d", i, e.Fate))
		case e.Done < 0 || e.After < 0 || e.Uncertain < 0:
			errs = append(errs, fmt.Errorf("end %d: got done %d, after %v, uncertain %v, want none negative", i, e.Done, e.After, e.Uncertain))
		}
	}
	return errors.Join(errs...)
}
