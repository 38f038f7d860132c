package rediskit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// again are the prefixes of refusals that may be temporary.
var again = []string{
	"MOVED", "ASK", "TRYAGAIN", "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "BUSY",
	"UNBLOCKED", "ERR max number of clients",
	// Redis 7.0.0 refuses a script with flags on a replica with this text; later versions put READONLY in front.
	"ERR Can not run script with write flag on readonly replica",
}

// noSentinel is the error of a Sentinel client that cannot find the master. It may end with the refusal of a sentinel.
const noSentinel = "redis: all sentinels specified in configuration are unreachable"

// Transient reports whether the same call may succeed later.
func Transient(err error) bool {
	if err == nil || errors.Is(err, redis.ErrClosed) {
		return false
	}
	if strings.Contains(err.Error(), noSentinel) {
		return true
	}
	var said redis.Error
	if errors.As(err, &said) {
		for _, prefix := range again {
			if strings.HasPrefix(said.Error(), prefix) {
				return true
			}
		}
		return false
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true // even for context.DeadlineExceeded, which is then the time-out of the dial
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "connection") || strings.Contains(err.Error(), "cluster") // client errors without a type
}

// Refused reports whether a server refused the call, so that this attempt ran nothing.
func Refused(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}

// Refusal returns the first word of a server's refusal (its code), and the rest; "" if err is not a refusal.
func Refusal(err error) (code, rest string) {
	var said redis.Error
	if errors.As(err, &said) {
		code, rest, _ = strings.Cut(strings.TrimPrefix(said.Error(), "ERR "), " ") // a single word has no rest
	}
	return code, rest
}

// Explain adds a remedy to a refusal that does not come from a script.
func Explain(err error) error {
	code, rest := Refusal(err)
	switch {
	case code == "MISCONF":
		return fmt.Errorf("server refuses writes because it cannot save to its disk; free the disk, or see the server's log: %w", err)
	case code == "Protocol" && strings.Contains(rest, "unauthenticated"): // a long command gets this instead of NOAUTH
		return fmt.Errorf("server wants a password (NOAUTH): %w", err)
	}
	return err
}
