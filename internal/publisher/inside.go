package publisher

import (
	"bytes"
	"context"
	"runtime"
)

type insideKey struct{ publisher any }

// HookContext marks ctx, so that calls with it, or with a derived context, are known to come from inside a hook.
func (p *Publisher[V, R]) HookContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, insideKey{p}, true)
}

// InsideHook reports whether the caller is a hook, which would wait for itself. It checks the mark of HookContext, and
// also the goroutine, because a handler that calls Flush with another context would hang forever. The check takes about
// a microsecond, so only calls that may block do it.
func (p *Publisher[V, R]) InsideHook(ctx context.Context) bool {
	if ctx.Value(insideKey{p}) != nil {
		return true
	}
	return p.onLoop()
}

// onLoop reports whether the caller runs on the goroutine of the loop.
func (p *Publisher[V, R]) onLoop() bool {
	loop := p.loop.outside.goroutine.Load()
	return loop != 0 && goroutine() == loop
}

// goroutine returns the number of the calling goroutine from the first line of its stack ("goroutine 17 [running]:"),
// or 0. The runtime has no other way.
func goroutine() (number uint64) {
	var line [64]byte
	_, rest, _ := bytes.Cut(line[:runtime.Stack(line[:], false)], []byte(" "))
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		number = 10*number + uint64(c-'0')
	}
	return number
}
