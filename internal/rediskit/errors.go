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

// again are the beginnings of refusals that may be over soon.
var again = []string{
	"MOVED", "ASK", "TRYAGAIN", "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "BUSY",
	"UNBLOCKED", "ERR max number of clients",
	// How Redis 7.0.0 refuses a script with flags on a replica; later versions say READONLY before it.
	"ERR Can not run script with write flag on readonly replica",
}

// noSentinel is the error of a client of Sentinel that does not learn who the master is. It may end with the refusal
// of one of them.
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
		return true // also where it says context.DeadlineExceeded: that is the time-out of a dial
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "connection") || strings.Contains(err.Error(), "cluster") // errors of the client without a type
}

// Refused reports whether a server said no, so that nothing was run by this attempt.
func Refused(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}

// Refusal returns the first word of a refusal, its code, and the rest; "" if err is not the refusal of a server.
func Refusal(err error) (code, rest string) {
	var said redis.Error
	if errors.As(err, &said) {
		code, rest, _ = strings.Cut(strings.TrimPrefix(said.Error(), "ERR "), " ") // one word has no rest
	}
	return code, rest
}

// Explain adds the way out to a refusal that is not one of a script.
func Explain(err error) error {
	code, rest := Refusal(err)
	switch {
	case code == "MISCONF":
		return fmt.Errorf("server refuses writes because it cannot save to its disk; free the disk, or see the server's log: %w", err)
	case code == "Protocol" && strings.Contains(rest, "unauthenticated"): // so it says NOAUTH to a long command
		return fmt.Errorf("server wants a password (NOAUTH): %w", err)
	}
	return err
}
