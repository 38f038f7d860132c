// Command search is a search engine for the terminal, over the index that the
// quickstart fills: every name that the source of Go declares.
//
//	go run ./samples/search read file              # needs nothing: the service is emulated, and filled first
//	go run ./samples/search -package net/... -kind func,method timeout
//	go run ./samples/search                        # asks for words, with completion, on a terminal
//	go run ./samples/search -endpoint https://NAME.search.windows.net -api-key QUERYKEY read file
//
// The last one reads the index that "go run ./samples/quickstart -endpoint …" has
// filled. Read find.go first: it is the part that your program would have as
// well.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/go-azsearch/azsearch/samples/internal/plain"
	"github.com/go-azsearch/azsearch/search"
)

// The exit codes, beside 0.
const (
	exitProblem     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program. The end of ctx is Ctrl-C.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = plain.Writer(stderr)
	cfg, err := parseFlags(args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	client, closeService, err := connect(ctx, cfg, stderr)
	if err == nil {
		defer closeService()
		err = answerAll(ctx, cfg, client, stdin, stdout, getenv("NO_COLOR") == "")
	}
	return finish(ctx, err, cfg, stderr)
}

// finish returns the exit code for err, and prints what is wrong.
func finish(ctx context.Context, err error, cfg config, stderr io.Writer) int {
	switch {
	case ctx.Err() != nil || errors.Is(err, errInterrupted):
		return exitInterrupted
	case err != nil:
		return complain(stderr, explain(err, cfg), exitProblem)
	}
	return 0
}

// answerAll answers the question on the command line, those that somebody types,
// or, without a terminal, a few of its own.
func answerAll(ctx context.Context, cfg config, client *search.Client, stdin io.Reader, stdout io.Writer, mayColor bool) error {
	out := &page{w: stdout, color: mayColor && isTerminal(stdout)}
	if cfg.question.words == "" && isTerminal(stdin) && isTerminal(stdout) {
		return converse(ctx, client, cfg.question, stdin.(*os.File), out)
	}
	buffered := bufio.NewWriter(stdout) // which remembers if the disk is full
	out.w = buffered
	return errors.Join(answerOnce(ctx, cfg, client, out), buffered.Flush())
}

// answerOnce answers the question on the command line, or those of the
// demonstration.
func answerOnce(ctx context.Context, cfg config, client *search.Client, out *page) error {
	if cfg.question.words == "" {
		return demonstrate(ctx, client, cfg.question, out)
	}
	a, err := find(ctx, client, cfg.question)
	if err != nil {
		return err
	}
	if cfg.json {
		return out.printJSON(a)
	}
	out.print(a)
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// explain adds what somebody can do about err.
func explain(err error, cfg config) error {
	if errors.Is(err, search.ErrIndexNotFound) {
		return fmt.Errorf("there is no index %s at %s; fill it with\n\tgo run ./samples/quickstart -endpoint %s -index %s", cfg.index, cfg.endpoint, cfg.endpoint, cfg.index)
	}
	return err
}

// complain prints what is wrong.
func complain(stderr io.Writer, err error, code int) int {
	text := strings.TrimPrefix(strings.TrimSpace(err.Error()), "search: ") // the package's name, and this program's
	fmt.Fprintf(stderr, "search: %s\n", text)
	return code
}
