// Command rag is the retrieval half of retrieval-augmented generation: it keeps
// the documentation of Go packages in an index, in passages, and finds those that
// a language model would need to answer a question.
//
//	go run ./samples/rag                 # needs nothing: the service is emulated, and the whole story runs
//	go run ./samples/rag -q 'How do I read a file line by line?'
//	go run ./samples/rag -endpoint https://NAME.search.windows.net
//
// The story is in store.go: how passages get into the index, are replaced when
// their source changes, and are found by text and vector together. No model takes
// part: the vectors are made by embed.go, which knows how words are spelled and
// not what they mean. A program puts the embeddings of a model in its place, and
// gives the passages that it prints to another one.
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

	"github.com/go-azsearch/azsearch/samples/internal/plain"
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
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program. The end of ctx is Ctrl-C. What it writes may come from an
// index or a service, and commands no terminal.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	stderr = plain.Writer(stderr)
	cfg, err := parseFlags(args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	out := bufio.NewWriter(stdout) // which remembers if the disk is full
	err = errors.Join(tell(ctx, cfg, plain.Writer(out)), out.Flush())
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case err != nil:
		return complain(stderr, err, exitProblem)
	}
	return 0
}

// tell ingests, and answers the question that was asked or tells the story.
func tell(ctx context.Context, cfg config, w io.Writer) (err error) {
	svc, err := connect(cfg)
	if err != nil {
		return err
	}
	defer svc.close()
	s, err := svc.openStore(ctx, cfg.index, hashing{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()

	story := &story{w: w, store: s, cfg: cfg, tree: os.DirFS(cfg.root)}
	fmt.Fprintf(w, "index %s of %s; vectors of %d dimensions made by hashing, not by a model\n", cfg.index, svc.name, dimensions)
	if cfg.ingest {
		if err := story.ingest(ctx); err != nil {
			return err
		}
	}
	if cfg.question != "" {
		return story.ask(ctx, cfg.question, cfg.filter(), cfg.top)
	}
	return story.tell(ctx)
}

// complain prints what is wrong on one line.
func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "rag: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}
