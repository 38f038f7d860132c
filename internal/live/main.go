// Command live runs an acceptance suite against a real service:
//
//	AZSEARCH_API_KEY=… go run ./internal/live -endpoint https://NAME.search.windows.net -out recording.jsonl
//
// The key is an admin key. What it makes has names with one random prefix, and is deleted at the end,
// whatever happened; of what else the service has only names are listed, for that, and not recorded.
// It prints a table of results in Markdown, and writes every request and reply to a file, without
// keys, secrets and the name of the service. Both can be sent to this project. Against the emulator,
// which CI does, it only shows that the suite itself works.
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

// run tries all steps, removes what they have made, and writes the table.
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
	// Ctrl-C and the limit end the steps, and never the removal.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	try(ctx, step{"everything is removed", func(ctx context.Context, s *suite) (string, error) { return s.remove(ctx) }})
	if failed > 0 {
		return fmt.Errorf("%d of %d steps failed", failed, len(steps)+1)
	}
	return nil
}
