package main

import (
	"bytes"
	"context"
	"io"
	"sync"
)

const ctrlC = '\x03'

// keyboard hands on what is typed. It reads all the time: in raw mode Ctrl-C is a
// character and no signal, and must be seen while nobody asks for characters.
type keyboard struct {
	changed *sync.Cond // typed or err

	mu        sync.Mutex
	typed     []byte // and not handed on yet
	err       error  // what comes after it
	interrupt func() // what Ctrl-C does now
}

func newKeyboard() *keyboard {
	k := &keyboard{interrupt: func() {}}
	k.changed = sync.NewCond(&k.mu)
	return k
}

// listen takes what is typed at a terminal until that ends.
func (k *keyboard) listen(terminal io.Reader) {
	keys := make([]byte, 256)
	for {
		n, err := terminal.Read(keys)
		k.press(keys[:n])
		if err != nil {
			k.end(err)
			return
		}
	}
}

// press takes some keys. What was typed before Ctrl-C is forgotten, as terminals
// do.
func (k *keyboard) press(keys []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := bytes.LastIndexByte(keys, ctrlC); i >= 0 {
		k.typed, keys = nil, keys[i+1:]
		k.interrupt()
	}
	k.typed = append(k.typed, keys...)
	k.changed.Signal()
}

// end lets Read fail when all is handed on.
func (k *keyboard) end(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	k.changed.Signal()
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.typed) == 0 && k.err == nil {
		k.changed.Wait()
	}
	if len(k.typed) == 0 {
		return 0, k.err
	}
	n := copy(p, k.typed)
	k.typed = k.typed[n:]
	return n, nil
}

// interruptible returns a context that Ctrl-C ends, and nothing else, until done
// is called.
func (k *keyboard) interruptible(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	before := k.onInterrupt(cancel)
	return ctx, func() {
		k.onInterrupt(before)
		cancel()
	}
}

// onInterrupt says what Ctrl-C does from now on, and returns what it did.
func (k *keyboard) onInterrupt(do func()) (before func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.interrupt = k.interrupt, do
	return before
}
