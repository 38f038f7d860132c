package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/verify"
	"github.com/go-azsearch/azsearch/models"
)

// without returns the documents of a side without the values of fields that are not returned. own are its own fields:
// it has no values of those that are not returned.
func without(side verify.Side, own, fields []models.SearchField) verify.Side {
	lacks := keyrange.Hidden(own)
	if !slices.ContainsFunc(keyrange.Hidden(fields), func(path string) bool { return !slices.Contains(lacks, path) }) {
		return side
	}
	return verify.Documents(func(ctx context.Context, yield func(json.RawMessage) error) error {
		return side.Each(ctx, func(document json.RawMessage) error {
			document, err := readable(document, fields)
			if err != nil {
				return err
			}
			return yield(document)
		})
	})
}

// readable returns a document without the values of fields that a service does not return.
func readable(document json.RawMessage, fields []models.SearchField) (json.RawMessage, error) {
	if len(keyrange.Hidden(fields)) == 0 {
		return document, nil
	}
	return mapped(document, fields, func(f *models.SearchField, value json.RawMessage) json.RawMessage {
		if !returned(f) {
			return nil
		}
		return value
	})
}

// narrowed returns the documents of a side with vectors of the precision that the service keeps, in one notation.
func narrowed(side verify.Side, fields []models.SearchField) verify.Side {
	if !hasVectors(fields) {
		return side
	}
	return verify.Documents(func(ctx context.Context, yield func(json.RawMessage) error) error {
		return side.Each(ctx, func(document json.RawMessage) error {
			document, err := mapped(document, fields, func(f *models.SearchField, value json.RawMessage) json.RawMessage {
				if half := models.Collection(models.DataTypeHalf); f.Type == half || f.Type == models.Collection(models.DataTypeSingle) {
					return narrow(value, f.Type == half)
				}
				return value
			})
			if err != nil {
				return err
			}
			return yield(document)
		})
	})
}

func hasVectors(fields []models.SearchField) bool {
	return slices.ContainsFunc(fields, func(f models.SearchField) bool { return f.Type.IsVector() || hasVectors(f.Fields) })
}

// narrow rounds the elements of a vector to 32 or 16 bits, ties to even. What is not a vector of numbers in the range
// stays.
func narrow(value json.RawMessage, half bool) json.RawMessage {
	var elements []json.Number
	if json.Unmarshal(value, &elements) != nil || elements == nil {
		return value
	}
	all := make([]float32, len(elements))
	for i, text := range elements {
		n, err := strconv.ParseFloat(string(text), 32)
		if err != nil {
			return value
		}
		if half && n != 0 { // halves have 11 significant bits and, below 2^-14, steps of 2^-24
			step := math.Ldexp(1, max(math.Ilogb(n), -14)-10)
			n = math.RoundToEven(n/step) * step
		}
		all[i] = float32(n)
	}
	rounded, _ := json.Marshal(all) // finite numbers always marshal
	return rounded
}

// mapped returns a document with the values that of returns for those of fields, in objects, too; nil removes one.
func mapped(document json.RawMessage, fields []models.SearchField, of func(*models.SearchField, json.RawMessage) json.RawMessage) (json.RawMessage, error) {
	if text := bytes.TrimSpace(document); len(text) > 0 && text[0] == '[' {
		var elements []json.RawMessage
		err := json.Unmarshal(document, &elements)
		for i := range elements {
			if err == nil {
				elements[i], err = mapped(elements[i], fields, of)
			}
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(elements)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(document, &members); err != nil || members == nil {
		return document, err
	}
	for _, f := range fields {
		value, has := members[f.Name]
		if !has {
			continue
		}
		value = of(&f, value)
		if value != nil && f.Fields != nil {
			var err error
			if value, err = mapped(value, f.Fields, of); err != nil {
				return nil, err
			}
		}
		if members[f.Name] = value; value == nil {
			delete(members, f.Name)
		}
	}
	return json.Marshal(members)
}
