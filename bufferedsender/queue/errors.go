package queue

import (
	"errors"
	"fmt"
)

// Sentinels in the error chains of a Queue.
var (
	// ErrClosed: Close was called.
	ErrClosed = errors.New("the queue is closed")
	// ErrFull: the queue holds as many keys or bytes as it may. A record that replaces waiting ones is still accepted.
	// Parked keys have a share of their own, as large as the bound; beyond it they take room from others. The error
	// says how many are parked.
	ErrFull = errors.New("the queue is full")
	// ErrUnknown: the call may have been applied. Repeat the same call to find out.
	ErrUnknown = errors.New("it is not known whether the call was applied")
	// ErrTooOld: the back end no longer remembers whether it applied the call.
	ErrTooOld = errors.New("the call is too old to be repeated")
	// ErrLost: the server lost acknowledged records.
	ErrLost = errors.New("the server has lost what it had acknowledged")
	// ErrFailed: the back end failed for good; this object cannot be used any more.
	ErrFailed = errors.New("the queue has failed and must be opened again")
)

// check returns an error that names every problem of a call that can be found without the queue.
func (c *Call) check() error {
	var errs []error
	if c.Adder == (ID{}) {
		errs = append(errs, errors.New("the call has no Adder: use NewID once for each process"))
	}
	if c.Number == 0 {
		errs = append(errs, errors.New("the call has no Number: number the calls of an adder from 1"))
	}
	if n := len(c.Records) + len(c.Folds); n > MaxCall {
		errs = append(errs, fmt.Errorf("the call has %d records and folds, want at most %d", n, MaxCall))
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
		return errors.New("it has no key")
	case len(r.Key) > maxKey:
		return fmt.Errorf("its key has %d bytes, want at most %d", len(r.Key), maxKey)
	case r.Op != "" && !r.Op.Valid():
		return fmt.Errorf("its Op %q is unknown", r.Op)
	case r.Op == "" && len(r.Body) > 0:
		return errors.New(`it has a body, but its Op "" only says that the key has changed`)
	case r.Op != "" && len(r.Body) == 0:
		return errors.New("it has no body")
	case r.Class > maxClass:
		return fmt.Errorf("its class is %d, want at most %d", r.Class, maxClass)
	}
	return nil
}

func (f *Fold) check() error {
	if len(f.Records) >= f.Count {
		return fmt.Errorf("it replaces %d records by %d: less is the point of it", f.Count, len(f.Records))
	}
	if len(f.Records) == 0 {
		return errors.New("it has no records: what waits cannot be dropped by folding")
	}
	for i := range f.Records {
		if f.Records[i].Key != f.Key {
			return fmt.Errorf("it is about %q, and a record of it about %q", f.Key, f.Records[i].Key)
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
		errs = append(errs, errors.New("the reservation has no Token: use NewID for each"))
	}
	if w.For <= 0 {
		errs = append(errs, fmt.Errorf("a lease for %v: it has to last for a while", w.For))
	}
	if w.Keys < 0 || w.Bytes < 0 || w.Uncertain < 0 {
		errs = append(errs, fmt.Errorf("keys %d, bytes %d, uncertain %v: none may be negative", w.Keys, w.Bytes, w.Uncertain))
	}
	if max(w.Keys, len(w.Only)) > MaxCall {
		errs = append(errs, fmt.Errorf("%d keys are asked for, want at most %d", max(w.Keys, len(w.Only)), MaxCall))
	}
	return errors.Join(errs...)
}

// CheckEnds is for back ends: it returns the problems of the ends of leases.
func CheckEnds(ends []End) error {
	var errs []error
	if len(ends) > MaxCall {
		errs = append(errs, fmt.Errorf("%d ends, want at most %d", len(ends), MaxCall))
	}
	for i := range ends {
		e := &ends[i]
		switch {
		case e.Fate < Commit || e.Fate > Park:
			errs = append(errs, fmt.Errorf("end %d: fate %d is unknown", i, e.Fate))
		case e.Done < 0 || e.After < 0 || e.Uncertain < 0:
			errs = append(errs, fmt.Errorf("end %d: done %d, after %v, uncertain %v: none may be negative", i, e.Done, e.After, e.Uncertain))
		}
	}
	return errors.Join(errs...)
}
