package publisher

import (
	"bytes"
	"context"
	"runtime"
)

type insideKey struct{ publisher any }

// HookContext marks ctx, so that a call made with it, or with a context derived
// from it, is known to come from inside a hook.
func (p *Publisher[V, R]) HookContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, insideKey{p}, true)
}

// InsideHook reports whether the caller is a hook, which would wait for itself.
// The mark of HookContext says so; but a handler that calls Flush with a
// context of its own would hang for ever, so the goroutine counts too. It costs
// about a microsecond, and only calls that may wait ask.
func (p *Publisher[V, R]) InsideHook(ctx context.Context) bool {
	if ctx.Value(insideKey{p}) != nil {
		return true
	}
	loop := p.loop.goroutine.Load()
	return loop != nil && goroutine() == *loop
}

// goroutine returns the number of the calling goroutine, from the first line of
// its stack ("goroutine 17 [running]:"). The runtime offers no other way.
func goroutine() string {
	var line [64]byte
	fields := bytes.Fields(line[:runtime.Stack(line[:], false)])
	if len(fields) < 2 {
		return ""
	}
	return string(fields[1])
}
