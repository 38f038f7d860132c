package rediskit

import (
	"errors"
	"strconv"
)

// ErrAnswer reports that the answer cannot come from a script of this version.
var ErrAnswer = errors.New("redis: got an answer that no script of this version gives; look for a proxy before the server")

// Text returns an answer that must be a string.
func Text(answer any) (string, error) {
	text, ok := answer.(string)
	if !ok {
		return "", ErrAnswer
	}
	return text, nil
}

// Reader reads a list answer, one element after the other. After the first unexpected element Err is set, and all
// results are zero.
type Reader struct {
	rest []any
	Err  error
}

// Read returns a Reader of an answer.
func Read(answer any) *Reader {
	all, ok := answer.([]any)
	if !ok {
		return &Reader{Err: ErrAnswer}
	}
	return &Reader{rest: all}
}

// More reports whether there is another element, and no error.
func (r *Reader) More() bool { return r.Err == nil && len(r.rest) > 0 }

// Fail sets Err, unless it is set.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
}

func (r *Reader) next() any {
	if !r.More() {
		r.Fail(ErrAnswer)
		return nil
	}
	x := r.rest[0]
	r.rest = r.rest[1:]
	return x
}

// Int returns the next element, which must be a number, or a string that is one.
func (r *Reader) Int() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	}
	r.Fail(ErrAnswer)
	return 0
}

// Text returns the next element, which must be a string.
func (r *Reader) Text() string {
	s, ok := r.next().(string)
	if !ok {
		r.Fail(ErrAnswer)
	}
	return s
}

// List returns a Reader of the next element, which must be a list.
func (r *Reader) List() *Reader { return Read(r.next()) }

// End returns Err, or an error if there are more elements.
func (r *Reader) End() error {
	if r.More() {
		r.Fail(ErrAnswer)
	}
	return r.Err
}
