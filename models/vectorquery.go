package models

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// VectorElement is what a vector can be made of, one Go type for each type of
// vector field: float32 for Edm.Single and Edm.Half, int16 for Edm.Int16, int8
// for Edm.SByte, uint8 for Edm.Byte, which holds eight dimensions of a binary
// vector each. float64 is for those whose vectors come so; the service rounds
// them.
type VectorElement interface {
	~float32 | ~float64 | ~int16 | ~int8 | ~uint8
}

// Vector is the vector of a query. The zero Vector is none.
type Vector struct {
	length int
	write  func(dst []byte) ([]byte, error)
}

// VectorOf returns a vector of the given elements. It does not copy them: they
// must not change until the query that it is part of has been made.
func VectorOf[E VectorElement](elements []E) Vector {
	if len(elements) == 0 {
		return Vector{}
	}
	v := Vector{length: len(elements)}
	switch reflect.TypeFor[E]().Kind() {
	case reflect.Float32, reflect.Float64:
		v.write = func(dst []byte) ([]byte, error) { return appendFloats(dst, elements) }
	default:
		v.write = func(dst []byte) ([]byte, error) { return appendIntegers(dst, elements), nil }
	}
	return v
}

// Len returns the number of elements.
func (v Vector) Len() int { return v.length }

// AppendJSON appends the vector as the service reads it, a list of numbers, each
// with as few digits as tell it from its neighbours, and returns the extended
// slice. The error says which element is not a finite number; dst is returned
// as it was then, and for the zero Vector.
func (v Vector) AppendJSON(dst []byte) ([]byte, error) {
	if v.write == nil {
		return dst, errors.New("the vector is empty")
	}
	return v.write(dst)
}

// MarshalJSON implements json.Marshaler.
func (v Vector) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// appendFloats is fast where encode can write the list, which is always but for
// NaN and the infinities.
func appendFloats[E VectorElement](dst []byte, elements []E) ([]byte, error) {
	out, ok := encode.Append(dst, elements)
	if ok {
		return out, nil
	}
	for i, e := range elements {
		if f := float64(e); math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, fmt.Errorf("element %d of the vector is %v, which is not a finite number", i, f)
		}
	}
	return dst, errors.New("an element of the vector cannot be encoded")
}

// appendIntegers does not leave bytes to encode, which would write them as text
// in base64, as encoding/json does.
func appendIntegers[E VectorElement](dst []byte, elements []E) []byte {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(e), 10)
	}
	return append(dst, ']')
}
