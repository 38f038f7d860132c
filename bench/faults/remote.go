package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// remote is the client of a service in another process.
type remote struct {
	addresses
	stop func() error
}

// startProcess starts this program as a service.
func startProcess(ctx context.Context, c serviceConfig) (*remote, error) {
	command, err := child.Task(ctx, "faults", "serve", c)
	if err != nil {
		return nil, err
	}
	service, err := child.Start(command)
	if err != nil {
		return nil, err
	}
	r := &remote{stop: service.Stop}
	if err := json.NewDecoder(service.Stdout).Decode(&r.addresses); err != nil {
		return nil, errors.Join(fmt.Errorf("the service did not start: %w", err), r.stop())
	}
	return r, nil
}

func (r *remote) setFaults(ctx context.Context, f *searchtest.Faults) error {
	if f == nil {
		f = &searchtest.Faults{}
	}
	script, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return r.call(ctx, http.MethodPost, "/faults", script, nil)
}

func (r *remote) do(ctx context.Context, what string) error {
	return r.call(ctx, http.MethodPost, "/"+what, nil, nil)
}

func (r *remote) testimony(ctx context.Context) (*testimony, error) {
	t := new(testimony)
	return t, r.call(ctx, http.MethodGet, "/testimony", nil, t)
}

func (r *remote) call(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, r.Control+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("the service's controls: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("the service's controls: %s: %s", path, strings.TrimSpace(string(text)))
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
