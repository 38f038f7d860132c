package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// BuildSink builds the sink in a folder. It needs the module of the benchmark as
// the working directory, or a folder of it.
func BuildSink(ctx context.Context, folder string) (string, error) {
	name := filepath.Join(folder, "sink.exe") // Windows needs the ending
	out, err := exec.CommandContext(ctx, "go", "build", "-o", name, "github.com/go-azsearch/azsearch/bench/sink").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the sink, which works in the folder bench only: %w\n%s", err, out)
	}
	return name, nil
}

// Sink is a sink in another process.
type Sink struct {
	Address string

	process *Process
}

// StartSink starts the program that BuildSink has built. Whoever starts it calls
// Stop.
func StartSink(ctx context.Context, program string, flags ...string) (*Sink, error) {
	process, err := Start(exec.CommandContext(ctx, program, flags...))
	if err != nil {
		return nil, err
	}
	s := &Sink{process: process}
	line, err := bufio.NewReader(process.Stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the sink did not start: %w", err), s.Stop())
	}
	s.Address = strings.TrimSpace(line)
	return s, nil
}

// Counts asks the sink what it has counted.
func (s *Sink) Counts(ctx context.Context) (server.Counts, error) {
	var c server.Counts
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address+server.StatsPath, nil)
	if err != nil {
		return c, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, fmt.Errorf("the sink: %w", err)
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

// Stop waits until the sink has ended.
func (s *Sink) Stop() error { return s.process.Stop() }
