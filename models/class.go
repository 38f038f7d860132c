package models

import (
	"context"
	"fmt"
)

// Class is the urgency of a document or a piece of work in the pool that its sender shares with others, see package
// bufferedsender/pool.
type Class uint8

// The classes, the most urgent first. Their use is the application's choice; by default the senders of this module
// use ClassExpedited. A class determines which request goes first, not when a request is made: a single document
// waits for a full batch or AutoFlushInterval, whatever its class.
const (
	// ClassExpedited has its own slots and never waits for another class. Use it for work that users wait for.
	ClassExpedited Class = iota
	// ClassAssured1 to ClassAssured4 share slots with each other and with ClassBestEffort, and each has a floor of them.
	ClassAssured1
	ClassAssured2
	ClassAssured3
	ClassAssured4
	// ClassBestEffort is served last. Use it for backfills, repairs and exports.
	ClassBestEffort
)

var classNames = [ClassBestEffort + 1]string{"expedited", "assured1", "assured2", "assured3", "assured4", "best effort"}

// String returns the name that metrics use.
func (c Class) String() string {
	if c <= ClassBestEffort {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

type classKey struct{}

// WithClass returns a context that sets the class of an adding call of a sender, or of a rebuild's Tap. Purge of a
// sender gives up nothing more urgent.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf returns the class in a context, and whether there is one.
func ClassOf(ctx context.Context) (Class, bool) {
	c, ok := ctx.Value(classKey{}).(Class)
	return c, ok
}
