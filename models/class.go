package models

import (
	"context"
	"fmt"
)

// Class says how urgent a document, or a piece of work, is for the pool that its sender shares with others, see
// package bufferedsender/pool.
type Class uint8

// The classes of service, the most urgent first. What they are used for is the application's
// choice; the senders of this module use ClassExpedited unless they are told otherwise. A class says whose request goes
// first, and not when one is made: a single document waits for a full batch, or AutoFlushInterval, whatever its class.
const (
	// ClassExpedited has slots of its own, and never waits for another class: what users wait for.
	ClassExpedited Class = iota
	// ClassAssured1 to ClassAssured4 share slots with each other and with ClassBestEffort, and have at least a floor of
	// these.
	ClassAssured1
	ClassAssured2
	ClassAssured3
	ClassAssured4
	// ClassBestEffort comes last: backfills, repairs, exports.
	ClassBestEffort
)

var classNames = [ClassBestEffort + 1]string{"expedited", "assured1", "assured2", "assured3", "assured4", "best effort"}

// String returns the name, as metrics have it.
func (c Class) String() string {
	if c <= ClassBestEffort {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

type classKey struct{}

// WithClass returns a context with which one adding call of a sender, or of a rebuild's Tap, is of a class.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf returns the class that a context carries, if it does.
func ClassOf(ctx context.Context) (Class, bool) {
	c, ok := ctx.Value(classKey{}).(Class)
	return c, ok
}
