package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// converse answers each line that somebody types until that is the end. A line that ends with the Tab key is completed.
// What fails is shown: the next line may do better. The goroutine that reads may be left behind: a terminal cannot be
// made to stop.
func converse(ctx context.Context, client *search.Client, q question, typed io.Reader, out *page) error {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(typed)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	fmt.Fprintln(out.w, "Words, and Enter; Tab and Enter completes them; Ctrl-D ends.")
	for {
		fmt.Fprint(out.w, "search> ")
		select {
		case line, ok := <-lines:
			if !ok {
				fmt.Fprintln(out.w)
				return <-failed
			}
			if err := reply(ctx, client, q, line, out); err != nil {
				fmt.Fprintln(out.w, stage.Text(err.Error()))
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reply answers or completes a line.
func reply(ctx context.Context, client *search.Client, q question, line string, out *page) error {
	if q.words = strings.TrimSpace(line); q.words == "" {
		return nil
	}
	if strings.HasSuffix(line, "\t") {
		return out.printCompletions(q.complete(ctx, client))
	}
	a, err := find(ctx, client, q)
	if err == nil {
		out.print(a)
	}
	return err
}
