package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mrand "math/rand/v2"
	"sync"
)

const bodyBytes = 650

// document is about bodyBytes long when encoded.
type document struct {
	ID    string `json:"id" search:"key"`
	Name  string `json:"name"`
	Stars int32  `json:"stars"`
	Text  string `json:"text"`
}

// documents returns n different documents. Their numbers start at first.
func documents(first, n int) []document {
	from := mrand.New(mrand.NewPCG(1, 2))
	all := make([]document, n)
	text := make([]byte, bodyBytes-80)
	for i := range all {
		for j := range text {
			text[j] = byte('a' + from.IntN(26))
		}
		all[i] = document{key(first + i), fmt.Sprintf("Hotel %d", first+i), int32(i % 6), string(text)}
	}
	return all
}

func key(i int) string { return fmt.Sprintf("hotel-%012d", i) }

func randomBytes() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never returns an error
	return b
}

// complaints is a logger that keeps warnings and errors; a run should have none.
type complaints struct {
	mu   sync.Mutex
	said []error
}

func (c *complaints) logger() *slog.Logger { return slog.New(c) }

// err returns the logged warnings and errors.
func (c *complaints) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.said...)
}

// Enabled implements slog.Handler.
func (c *complaints) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (c *complaints) Handle(_ context.Context, r slog.Record) error {
	text := r.Level.String() + " in the log: " + r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) < 10 {
		c.said = append(c.said, errors.New(text))
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (c *complaints) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements slog.Handler.
func (c *complaints) WithGroup(string) slog.Handler { return c }
