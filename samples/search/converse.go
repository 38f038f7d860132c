package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/go-azsearch/azsearch/search"
)

const help = `words           search; Tab completes them
:package PATH   only what PATH declares, net/... also what is below net; alone: any package
:kind KINDS     only func, method, type, const, var, with commas between them; alone: any kind
:all            also what is not exported, and tests; again: not any more
:more           the next page
:quit           end, as Ctrl-D does
`

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
		if err := c.terminal.SetSize(width, height); err != nil {
			return err
		}
	}
	fmt.Fprint(c.terminal, "Words, or :help\n")
	return c.run(ctx)
}

// conversation is what is typed, and asked, and what it is limited to by then.
type conversation struct {
	client   *search.Client
	terminal *term.Terminal
	out      *page
	q        question
}

func newConversation(client *search.Client, q question, screen io.ReadWriter, color bool) *conversation {
	terminal := term.NewTerminal(screen, "search> ")
	return &conversation{client: client, terminal: terminal, out: &page{w: terminal, color: color}, q: q}
}

// run returns nil at the end of what is typed.
func (c *conversation) run(ctx context.Context) error {
	c.terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		line = c.complete(ctx, line)
		return line, len(line), true
	}
	for {
		line, err := c.readLine(ctx)
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(c.terminal)
			return nil
		case err != nil:
			return err
		}
		if quit := c.obey(ctx, strings.TrimSpace(line)); quit {
			return nil
		}
	}
}

// readLine returns what is typed next, or the end of ctx: a terminal cannot be
// made to stop reading, so the goroutine may be left behind.
func (c *conversation) readLine(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1) // room for a line that nobody waits for any more
	go func() {
		line, err := c.terminal.ReadLine()
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
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
		c.search(ctx)
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

func (c *conversation) search(ctx context.Context) {
	if c.q.words == "" {
		return
	}
	a, err := find(ctx, c.client, c.q)
	if err != nil {
		fmt.Fprintf(c.terminal, "%v\n", err)
		return
	}
	c.out.print(a)
}

// complete returns the line with its last word completed, as far as that is
// clear; otherwise it shows what is possible.
func (c *conversation) complete(ctx context.Context, line string) string {
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, ":") {
		return line
	}
	q := c.q
	q.words = line
	possible, err := q.complete(ctx, c.client)
	switch {
	case err != nil:
		fmt.Fprintf(c.terminal, "%v\n", err)
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
