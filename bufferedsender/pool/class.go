package pool

import (
	"context"
	"fmt"
	"strings"
)

// Class says how urgent a request is.
type Class uint8

// The classes of service, the most urgent first. What they are used for is the application's
// choice; the senders of this module use Expedited unless they are told otherwise. A class says whose request goes
// first, and not when one is made: a single document waits for a full batch, or AutoFlushInterval, whatever its class.
const (
	// Expedited has slots of its own, and never waits for another class: what users wait for.
	Expedited Class = iota
	// Assured1 to Assured4 share slots with each other and with BestEffort, and have at least a floor of these.
	Assured1
	Assured2
	Assured3
	Assured4
	// BestEffort comes last: backfills, repairs, exports.
	BestEffort

	classes = int(BestEffort) + 1
)

var classNames = [classes]string{"expedited", "assured1", "assured2", "assured3", "assured4", "best effort"}

// String returns the name, as metrics have it.
func (c Class) String() string {
	if int(c) < classes {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// ParseClass returns the class with a name, in small letters or capitals.
func ParseClass(name string) (Class, error) {
	for i, n := range classNames {
		if strings.EqualFold(n, name) {
			return Class(i), nil
		}
	}
	return 0, fmt.Errorf("pool: there is no class %q: use one of %s", name, strings.Join(classNames[:], ", "))
}

type classKey struct{}

// WithClass returns a context with which one adding call of a sender, or one Do, is of a class.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf returns the class that a context carries, if it does.
func ClassOf(ctx context.Context) (Class, bool) {
	c, ok := ctx.Value(classKey{}).(Class)
	return c, ok
}
