package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

const help = `words           search; Tab completes them
:package PATH   only what PATH declares, net/... also what is below net; alone: any package
:kind KINDS     only func, method, type, const, var, with commas between them; alone: any kind
:all            also what is not exported, and tests; again: not any more
:more           the next page
:quit           end, as Ctrl-D does

Ctrl-C ends a query that takes too long, and otherwise the program.
`

// errInterrupted is the end of a conversation by Ctrl-C.
var errInterrupted = errors.New("interrupted")

// converse answers what somebody types until that is the end.
func converse(ctx context.Context, client *search.Client, q question, terminal *os.File, out *page) (err error) {
	before, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, term.Restore(int(terminal.Fd()), before)) }()
	c := newConversation(client, q, struct {
		io.Reader
		io.Writer
	}{terminal, out.w}, out.color)
	if width, height, err := term.GetSize(int(terminal.Fd())); err == nil {
		if err := c.fit(width, height); err != nil {
			return err
		}
	}
	fmt.Fprint(c.terminal, "Words, or :help\n")
	return c.run(ctx)
}

// conversation is what is typed, and asked, and what it is limited to by then.
type conversation struct {
	client   *search.Client
	screen   io.ReadWriter
	keyboard *keyboard // reads from screen
	terminal *term.Terminal
	out      *page
	q        question
}

func newConversation(client *search.Client, q question, screen io.ReadWriter, color bool) *conversation {
	keyboard := newKeyboard()
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keyboard, screen}, "search> ")
	return &conversation{client: client, screen: screen, keyboard: keyboard, terminal: terminal, out: &page{w: terminal, color: color}, q: q}
}

// fit says how large the screen is. Serial lines and some containers say 0: then
// it stays as large as terminals usually are.
func (c *conversation) fit(width, height int) error {
	if width < 1 {
		return nil
	}
	return c.terminal.SetSize(width, height)
}

// run returns nil at the end of what is typed, and errInterrupted for Ctrl-C where
// there is no query to end. The goroutine that reads may be left behind: a terminal
// cannot be made to stop.
func (c *conversation) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(ctx, func() { c.keyboard.end(context.Cause(ctx)) })()
	c.keyboard.onInterrupt(func() { end(errInterrupted) })
	go c.keyboard.listen(c.screen)
	c.terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		line = c.complete(ctx, line)
		return line, len(line), true
	}
	for ctx.Err() == nil {
		line, err := c.terminal.ReadLine()
		if err != nil {
			fmt.Fprintln(c.terminal)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if quit := c.obey(ctx, strings.TrimSpace(line)); quit {
			return nil
		}
	}
	return context.Cause(ctx)
}

// obey does what a line says. What fails is shown: the next line may do better.
func (c *conversation) obey(ctx context.Context, line string) (quit bool) {
	command, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	switch command {
	case "":
		return false
	case ":quit":
		return true
	case ":package":
		c.q.pkg = argument
	case ":kind":
		kinds, err := parseKinds(argument)
		if err != nil {
			fmt.Fprintf(c.terminal, ":kind: %v\n", err)
			return false
		}
		c.q.kinds = kinds
	case ":all":
		c.q.all = !c.q.all
	case ":more":
		c.q.page++
		if shown := c.search(ctx); !shown {
			c.q.page--
		}
		return false
	default:
		if strings.HasPrefix(command, ":") {
			fmt.Fprint(c.terminal, help)
			return false
		}
		c.q.words = line
	}
	c.q.page = 1
	c.search(ctx)
	return false
}

// search shows the answer, if there is one.
func (c *conversation) search(ctx context.Context) (shown bool) {
	if c.q.words == "" {
		return false
	}
	ctx, done := c.keyboard.interruptible(ctx)
	defer done()
	a, err := find(ctx, c.client, c.q)
	if err != nil {
		c.complain(ctx, err)
		return false
	}
	c.out.print(a)
	return true
}

// complain shows what was wrong with a query within ctx.
func (c *conversation) complain(ctx context.Context, err error) {
	if ctx.Err() != nil {
		err = errInterrupted // which says it shorter
	}
	fmt.Fprintln(c.terminal, stage.Text(err.Error()))
}

// complete returns the line with its last word completed, as far as that is
// clear; otherwise it shows what is possible.
func (c *conversation) complete(ctx context.Context, line string) string {
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, ":") {
		return line
	}
	ctx, done := c.keyboard.interruptible(ctx)
	defer done()
	q := c.q
	q.words = line
	possible, err := q.complete(ctx, c.client)
	possible = lines(possible)
	switch {
	case err != nil:
		c.complain(ctx, err)
	case len(possible) == 1:
		return possible[0]
	case len(possible) > 1:
		fmt.Fprintf(c.terminal, "%s\n", strings.Join(possible, "  "))
		if shared := commonPrefix(possible); len(shared) > len(line) {
			return shared
		}
	}
	return line
}

// commonPrefix returns what all texts begin with.
func commonPrefix(texts []string) string {
	shared := texts[0]
	for _, t := range texts[1:] {
		for !strings.HasPrefix(t, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return strings.ToValidUTF8(shared, "")
}

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
