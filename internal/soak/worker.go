package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// worker is a process of this program that runs one program for each seed from its standard input, and answers with a
// line of JSON.
type worker struct {
	cmd    *exec.Cmd
	seeds  io.WriteCloser
	lines  *bufio.Reader
	stderr bytes.Buffer // read after the process has ended
}

// startWorker starts a worker whose temporary files are in the folder temp.
func startWorker(ctx context.Context, name, temp string) (*worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &worker{cmd: exec.CommandContext(ctx, program, "worker", name)}
	w.cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	w.cmd.Stderr = &w.stderr
	if w.seeds, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.lines = bufio.NewReader(stdout)
	return w, w.cmd.Start()
}

// try runs the program of a seed. An error means that the worker hangs or has ended.
func (w *worker) try(seed uint64, limit time.Duration) (a answer, err error) {
	hangs := time.AfterFunc(limit, func() {
		if w.cmd.Process.Signal(syscall.SIGQUIT) != nil { // prints the goroutines
			_ = w.cmd.Process.Kill()
		}
	})
	_, err = fmt.Fprintln(w.seeds, seed)
	var line []byte
	if err == nil {
		line, err = w.lines.ReadBytes('\n')
	}
	if !hangs.Stop() {
		return a, fmt.Errorf("the worker takes longer than %v; its goroutines:\n%s", limit, w.stop())
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		return a, fmt.Errorf("the worker has ended (%w):\n%s", err, w.stop())
	}
	return a, nil
}

// stop ends the process, and returns its standard error if it failed.
func (w *worker) stop() string {
	_ = w.seeds.Close()
	if err := w.cmd.Wait(); err != nil {
		return strings.TrimSpace(w.stderr.String())
	}
	return ""
}

// work is the main function of a worker. It never returns. Programs run in a test, because testing/synctest needs one.
func work(name string, seeds io.Reader) {
	answers := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // the output of package testing is not an answer
	s := find(name)
	run := func(t *testing.T) {
		scan := bufio.NewScanner(seeds)
		for scan.Scan() {
			var seed uint64
			if _, err := fmt.Sscan(scan.Text(), &seed); err != nil {
				t.Fatal(err)
			}
			if err := answers.Encode(s.rounds.(programs).answerTo(t, seed)); err != nil {
				t.Fatal(err)
			}
		}
		if err := scan.Err(); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	everything := func(string, string) (bool, error) { return true, nil }
	testing.Main(everything, []testing.InternalTest{{Name: name, F: run}}, nil, nil)
}
