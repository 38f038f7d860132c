// Package jqfilter changes records with a jq expression before they become documents.
package jqfilter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"github.com/itchyny/gojq"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
)

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct {
	code *gojq.Code
	text string
}

// New compiles an expression; for "" it returns nil. The expression has no access to environment, files or modules.
func New(expression string) (*Filter, error) {
	if expression == "" {
		return nil, nil
	}
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("-jq: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("-jq: %w", err)
	}
	return &Filter{code, expression}, nil
}

// String returns the expression, "" for nil.
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	return f.text
}

// JSON calls yield with each result for a JSON record. Whole numbers stay exact. A record that decoding would change
// is an error.
func (f *Filter) JSON(ctx context.Context, record []byte, yield func(result []byte) error) error {
	if err := jsontext.Lossless(record); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("not JSON: text after the value")
	}
	return f.Value(ctx, numbers(v), yield)
}

// Value is like JSON for a record of maps, slices, strings, numbers, booleans and nil.
func (f *Filter) Value(ctx context.Context, record any, yield func(result []byte) error) error {
	results := f.code.RunWithContext(ctx, record)
	for {
		v, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := v.(error); failed {
			if halt, stopped := err.(*gojq.HaltError); stopped && halt.Value() == nil { //nolint:errorlint // as the documentation of gojq does
				return nil
			}
			return fmt.Errorf("-jq: %w", err)
		}
		result, err := gojq.Marshal(v)
		if err != nil {
			return err
		}
		if err := yield(result); err != nil {
			return err
		}
	}
}

// numbers replaces each json.Number in v by a number type of gojq.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			return n
		}
		x, _ := v.Float64() // a number out of range becomes infinite, which no field type accepts
		return x
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbers(v[name])
		}
	}
	return v
}
