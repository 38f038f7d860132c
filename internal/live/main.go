// Command live runs an acceptance suite against a real service:
//
//	AZSEARCH_API_KEY=… go run ./internal/live -endpoint https://NAME.search.windows.net -out recording.jsonl
//
// The key must be an admin key. All definitions get names with one random prefix and are deleted at the end, in any
// case. To find them, the suite lists the names of all definitions of the service, but does not record these lists.
// It prints a table of results in Markdown and writes all other requests and replies to a file, without keys, secrets
// and the name of the service. Please send both to this project. CI runs the suite against the emulator, which only
// tests the suite itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	endpoint := flag.String("endpoint", "", "run against the service at this `address`")
	out := flag.String("out", "recording.jsonl", "write the redacted recording to this `file`")
	limit := flag.Duration("limit", 10*time.Minute, "stop after this time, and clean up")
	flag.Parse()
	key := os.Getenv("AZSEARCH_API_KEY")
	if *endpoint == "" || key == "" {
		fmt.Fprintln(os.Stderr, "live: set -endpoint and the environment variable AZSEARCH_API_KEY")
		os.Exit(2)
	}
	if err := live(*endpoint, key, *out, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func live(endpoint, key, out string, limit time.Duration) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	file, err := os.Create(out) //nolint:gosec // the caller's file
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s, err := newSuite(endpoint, key, nil, file)
	if err != nil {
		return err
	}
	return s.run(ctx, os.Stdout)
}

// run executes all steps, deletes their definitions, and prints the table.
func (s *suite) run(ctx context.Context, table io.Writer) error {
	failed := 0
	fmt.Fprintf(table, "| step | result | time |\n|---|---|---|\n")
	try := func(ctx context.Context, st step) {
		start := time.Now()
		result, err := st.do(ctx, s)
		if err != nil {
			failed++
			result = "**failed**: " + s.recorder.redact(err.Error())
		}
		fmt.Fprintf(table, "| %s | %s | %v |\n", st.name, result, time.Since(start).Round(time.Millisecond))
	}
	for _, st := range steps {
		try(ctx, st)
	}
	// Ctrl-C and the time limit stop the steps, but not the cleanup.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	try(ctx, step{"everything is removed", func(ctx context.Context, s *suite) (string, error) { return s.remove(ctx) }})
	if failed > 0 {
		return fmt.Errorf("%d of %d steps failed", failed, len(steps)+1)
	}
	return nil
}
