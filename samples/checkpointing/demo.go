package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	demoLines = 20_000
	demoIndex = "demo"
)

// demonstrate loads a file of its own making by a second process of this
// program, kills that one half-way, and runs it again.
func demonstrate(ctx context.Context, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "checkpointing")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	input := filepath.Join(dir, "input.txt")
	if err := writeInput(input, demoLines); err != nil {
		return err
	}
	srv := searchtest.NewServer(&searchtest.Options{KeepChanges: -1})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := func() *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, "-in", input, "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", demoIndex, "-save-every", "5ms")
		cmd.Stdout, cmd.Stderr = stdout, stderr
		return cmd
	}

	fmt.Fprintf(stdout, "A file of %d lines is loaded, and the loader is killed (kill -9) when half of them are in the index.\n", demoLines)
	halfway := whenHalf(srv)
	first := child()
	if err := first.Start(); err != nil {
		return err
	}
	died := make(chan error, 1) // one place: the goroutine never waits for us
	go func() { died <- first.Wait() }()
	select {
	case <-halfway:
		if err := first.Process.Kill(); err != nil {
			return err
		}
		if err := <-died; err == nil {
			return errors.New("the loader was through before it could be killed")
		}
	case err := <-died:
		return errors.Join(errors.New("the loader ended before it could be killed"), err)
	}
	srv.Intercept(nil)
	at, err := readCheckpoint(input + ".checkpoint")
	if err != nil {
		return err
	}
	missing, below, err := missingLines(srv, input, at.Offset)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Killed. The index has %d documents, the checkpoint stands behind line %d; before it %d lines are missing.\n",
		srv.DocumentCount(demoIndex), below, len(missing))

	fmt.Fprintln(stdout, "The same command again:")
	if err := child().Run(); err != nil {
		return fmt.Errorf("the second run: %w", err)
	}
	if missing, _, err = missingLines(srv, input, math.MaxInt64); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "The index has %d documents of %d lines, %d are missing.\n", srv.DocumentCount(demoIndex), demoLines, len(missing))
	if len(missing) > 0 {
		return fmt.Errorf("lines are missing: %v", missing[:min(10, len(missing))])
	}
	return nil
}

func writeInput(path string, lines int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range lines {
		fmt.Fprintf(w, "This is line %d.\n", i+1)
	}
	return errors.Join(w.Flush(), f.Close())
}

// whenHalf closes the channel it returns when half of the lines are in the
// index, and from then on answers no more.
func whenHalf(srv *searchtest.Server) <-chan struct{} {
	reached := make(chan struct{})
	var once sync.Once
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		resp, err := next(r)
		if srv.DocumentCount(demoIndex) < demoLines/2 || !strings.HasSuffix(r.URL.Path, "search.index") {
			return resp, err
		}
		once.Do(func() { close(reached) })
		<-r.Context().Done() // the client has died
		return nil, r.Context().Err()
	})
	return reached
}

// missingLines returns those of the input's lines that end at byte upTo or before
// it and are not in the index, and how many lines that are in all.
func missingLines(srv *searchtest.Server, input string, upTo int64) (missing []line, of int, err error) {
	docs := srv.Documents(demoIndex)
	for l, err := range linesFrom(input, 0) {
		if err != nil {
			return nil, 0, err
		}
		if l.end > upTo {
			break
		}
		of++
		if _, ok := docs[entryOf(l).Key]; !ok {
			missing = append(missing, l)
		}
	}
	return missing, of, nil
}
