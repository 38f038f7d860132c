package bufferedsender

import (
	"fmt"
	"runtime/debug"

	"github.com/go-azsearch/azsearch/events"
)

// code names foreign code that a sender calls: a handler, or an option that is a function or interface.
type code uint32

const (
	inOthers code = iota // code without a guard of its own
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

// String returns the name used in logs and in Health.
func (c code) String() string { return namesOfCode[c] }

// guard calls a handler on the publisher goroutine and contains its panic. Health names the handler while it runs.
func (o *observer) guard(handler code, call func()) {
	o.in.Store(uint32(handler))
	defer o.in.Store(uint32(inOthers))
	o.guardElsewhere(handler, call)
}

// guardElsewhere is guard for other goroutines; Health does not name the handler.
func (o *observer) guardElsewhere(handler code, call func()) {
	defer o.contain(handler.String())
	call()
}

// contain must be deferred around foreign code.
func (o *observer) contain(handler string) {
	if v := recover(); v != nil {
		o.panicked(handler, v)
	}
}

func (o *observer) panicked(handler string, v any) {
	o.panics.Add(1)
	stack := string(debug.Stack())
	defer func() { _ = recover() }() // the panic of a logger or meter is already counted above
	o.telemetry.callbackPanicked()
	o.logger.Error("azsearch: handler panicked", "handler", handler, "panic", fmt.Sprint(v), "stack", stack)
}
