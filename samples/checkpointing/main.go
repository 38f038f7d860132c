// Command checkpointing loads a file line by line and survives kill -9: the next run resumes at a checkpoint, and in
// the end no line is missing from the index. The checkpoint is a low-water mark that the sender's events advance.
//
//	go run ./samples/checkpointing       # kills its own loader, on an emulated service
//	go run ./samples/checkpointing -in FILE -endpoint https://NAME.search.windows.net -api-key KEY
//
// loader.go is the part to copy; it explains why no crash loses a line.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("checkpointing", program) }

func program(p *stage.Program) func(context.Context) error {
	at := p.Address("azsearch-checkpointing")
	in := p.String("in", "", "load the lines of `FILE` (default: a demonstration)")
	saveEvery := p.Duration("save-every", 200*time.Millisecond, "write the checkpoint at most once in this `DURATION`")
	p.Check = func() error {
		if *in == "" && p.Given("endpoint") || *in != "" && at.Endpoint == "" {
			return errors.New("-in needs -endpoint, and -endpoint -in")
		}
		return nil
	}
	return func(ctx context.Context) error {
		if *in == "" {
			return demonstrate(ctx, p.Out, p.Err)
		}
		service, err := at.Connect(nil)
		if err != nil {
			return err
		}
		client, err := stage.Open[Entry](ctx, service, at.Index)
		if err != nil {
			return err
		}
		index, err := service.Indexes.GetIndex(ctx, at.Index, nil)
		if err != nil {
			return err
		}
		l := &loader{
			etag: index.ETag, input: *in, checkpointFile: *in + ".checkpoint", refusedFile: *in + ".refused",
			saveEvery: *saveEvery, closeTimeout: 10 * time.Second,
		}
		return l.load(ctx, client, p.Out)
	}
}

const (
	demoLines = 20_000
	demoIndex = "demo"
)

// demonstrate writes a file, loads it in a second process, kills that process half-way, and runs it again.
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
	srv := searchtest.NewServer(&searchtest.Options{KeepChanges: -1, Latency: 5 * time.Millisecond})
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
	first := child()
	if err := first.Start(); err != nil {
		return err
	}
	half := stage.Until(ctx, time.Minute, time.Millisecond, func() (bool, error) { return srv.DocumentCount(demoIndex) >= demoLines/2, nil })
	if err := errors.Join(half, first.Process.Kill()); err != nil {
		return err
	}
	if err := first.Wait(); err == nil {
		return errors.New("the loader finished before it was killed")
	}
	at, err := readCheckpoint(input + ".checkpoint")
	if err != nil {
		return err
	}
	missing, below, err := missingLines(srv, input, at.Offset)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Killed. The index has %d documents, the checkpoint is after line %d; %d lines before it are missing.\n",
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

// missingLines returns the lines that end at or before byte upTo and are not in the index, and the number of lines
// that it checked.
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
