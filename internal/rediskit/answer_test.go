package rediskit

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnAnswerIsReadElementByElement(t *testing.T) {
	r := Read([]any{int64(1), "2", "text", []any{"inner"}})
	assert.Equal(t, int64(1), r.Int())
	assert.Equal(t, int64(2), r.Int(), "a cursor is a number in a text")
	assert.Equal(t, "text", r.Text())
	inner := r.List()
	assert.Equal(t, "inner", inner.Text())
	assert.NoError(t, inner.End())
	assert.NoError(t, r.End())
}

func TestAnAnswerOfAnotherFormIsAnErrorAndReadsAsZero(t *testing.T) {
	for name, read := range map[string]func() error{
		"no list":               func() error { return Read("text").End() },
		"nil":                   func() error { return Read(nil).End() },
		"an element too few":    func() error { r := Read([]any{}); r.Int(); return r.End() },
		"an element too many":   func() error { return Read([]any{"a"}).End() },
		"a text for a number":   func() error { r := Read([]any{"a"}); r.Int(); return r.End() },
		"a number for a text":   func() error { r := Read([]any{int64(1)}); r.Text(); return r.End() },
		"a text for a list":     func() error { return Read([]any{"a"}).List().End() },
		"nil for a text":        func() error { _, err := Text(nil); return err },
		"a list for a text":     func() error { _, err := Text([]any{"a"}); return err },
		"nothing, read as list": func() error { return Read([]any{}).List().Err },
	} {
		assert.ErrorIs(t, read(), ErrAnswer, name)
	}
	r, first := Read([]any{"a", "b"}), errors.New("a record that cannot be read")
	r.Fail(first)
	assert.Empty(t, r.Text())
	assert.Zero(t, r.Int())
	assert.Equal(t, first, r.End(), "the first error is the one that helps")
}
