package bufferedsender

import (
	"fmt"
	"runtime/debug"

	"github.com/go-azsearch/azsearch/events"
)

// code is code of others that a sender calls: a handler, or an option that is called like one.
type code uint32

const (
	inOthers code = iota // what has no guard
	inActionSent
	inActionCompleted
	inActionFailed
	inBatchCompleted
	inHealthChanged
	inClosed
	inOnOutcome
	inOnPurged
	inDeadLetters
	inWithdraw
	inTuning
	inLogger
	inMeterProvider
)

var namesOfCode = [...]string{
	"a callback, or a subscriber of the breaker", events.KindActionSent.String(), events.KindActionCompleted.String(),
	events.KindActionFailed.String(), events.KindBatchCompleted.String(), events.KindHealthChanged.String(),
	"Closed", "OnOutcome", "OnPurged", "DeadLetters", "Withdraw", "Tuning", "Logger", "MeterProvider",
}

// String returns the name of it in logs and in Health.
func (c code) String() string { return namesOfCode[c] }

// guard calls a handler on the publisher goroutine, contains its panic, and has Health name it while it runs.
func (o *observer) guard(handler code, call func()) {
	o.in.Store(uint32(handler))
	defer o.in.Store(uint32(inOthers))
	o.guardElsewhere(handler, call)
}

// guardElsewhere is guard for other goroutines.
func (o *observer) guardElsewhere(handler code, call func()) {
	defer o.contain(handler.String())
	call()
}

// contain must be deferred around the code of others.
func (o *observer) contain(handler string) {
	if v := recover(); v != nil {
		o.panicked(handler, v)
	}
}

func (o *observer) panicked(handler string, v any) {
	o.panics.Add(1)
	stack := string(debug.Stack())
	defer func() { _ = recover() }() // a logger or a meter that panics too has been counted above
	o.telemetry.callbackPanicked()
	o.logger.Error("azsearch: handler panicked", "handler", handler, "panic", fmt.Sprint(v), "stack", stack)
}
