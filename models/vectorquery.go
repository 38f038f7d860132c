package models

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// VectorElement is the type of the elements of a vector, according to the type of the field: float32 for Edm.Single
// and Edm.Half, int16 for Edm.Int16, int8 for Edm.SByte, and uint8 for Edm.Byte, where each element holds eight
// dimensions of a binary vector. float64 is accepted for convenience; the service rounds it.
type VectorElement interface {
	~float32 | ~float64 | ~int16 | ~int8 | ~uint8
}

// Vector is the vector of a query. The zero Vector is empty.
type Vector struct {
	length int
	write  func(dst []byte) ([]byte, error)
}

// VectorOf returns a vector with the given elements. It does not copy them: they must not change until the query has
// been encoded.
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

// AppendJSON appends the vector in the JSON of the service, a list of numbers with the fewest digits that preserve
// their values, and returns the extended slice. If an element is not a finite number, the error has its position. On
// error, also for the zero Vector, dst is returned unchanged.
func (v Vector) AppendJSON(dst []byte) ([]byte, error) {
	if v.write == nil {
		return dst, errors.New("the vector is empty")
	}
	return v.write(dst)
}

// MarshalJSON implements json.Marshaler.
func (v Vector) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// appendFloats uses encode, which fails only for NaN and the infinities.
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

// appendIntegers does not use encode, which would write bytes as base64, like encoding/json.
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
