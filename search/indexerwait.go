package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/models/indexers"
)

// The first and the longest pause between two requests for the status of an indexer.
const (
	firstIndexerPause = time.Second
	maxIndexerPause   = 30 * time.Second
	// idleUntilChecked is the number of polls without an execution after which the definition is read.
	idleUntilChecked = 5
)

// WaitForIndexerOptions are the options of IndexerClient.WaitForIndexer. nil and the
// zero value are ready to use.
type WaitForIndexerOptions struct {
	// MaxPause is the longest pause between two requests for the status. The first pause is a second, and each later one
	// is half as long again. Defaults to 30 s.
	MaxPause time.Duration
	// NoRun starts no execution. The execution under way is returned when it ends, otherwise the latest one at once; if
	// there is none, WaitForIndexer waits for the first, such as that of CreateIndexer. A reset is not an execution.
	// Defaults to running the indexer, because an execution that is under way may have read some documents already.
	NoRun bool
}

// IndexerError means that an execution of an indexer failed, or that some of its items did.
type IndexerError struct {
	// Name is the name of the indexer.
	Name string
	// Execution is the failed execution. Its Errors list the items.
	Execution indexers.Execution
}

// Error returns the status, the message of the execution, and the first failed item. The text can contain the key of
// a document.
func (e *IndexerError) Error() string {
	x := e.Execution
	text := fmt.Sprintf("search: indexer %q: execution ended with status %q", e.Name, x.Status)
	if x.ErrorMessage != "" {
		text += ": " + oneLine(x.ErrorMessage)
	}
	if x.ItemsFailed > 0 {
		text += fmt.Sprintf("; %d of %d items failed", x.ItemsFailed, x.ItemsProcessed)
	}
	if len(x.Errors) > 0 && x.Errors[0].ErrorMessage != x.ErrorMessage {
		text += "; first: "
		if key := x.Errors[0].Key; key != "" {
			text += strconv.Quote(key) + ": "
		}
		text += oneLine(x.Errors[0].ErrorMessage)
	}
	return text
}

// WaitForIndexer runs an indexer and waits for the end of the execution. It returns the execution, and an
// *IndexerError if it or some of its items failed. If the indexer is already running, WaitForIndexer first waits for
// the end of that execution, and then runs the indexer. WaitForIndexerOptions.NoRun only waits. If nothing begins, and
// the definition says that the indexer is disabled, the error says so.
//
// ctx bounds the wait, not the execution, which cannot be stopped. When ctx ends, its error is returned, wrapped.
func (c *IndexerClient) WaitForIndexer(ctx context.Context, name string, opts *WaitForIndexerOptions) (_ indexers.Execution, err error) {
	const operation = "WaitForIndexer"
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	if opts == nil {
		opts = &WaitForIndexerOptions{}
	}
	pause := pauses{most: opts.MaxPause}
	if pause.most <= 0 {
		pause.most = maxIndexerPause
	}
	pause.next = min(firstIndexerPause, pause.most)
	var before *indexers.Execution
	idle := 0 // polls that showed no execution to wait for
	for started := false; ; {
		status, err := c.GetIndexerStatus(ctx, name, nil)
		if err != nil {
			return indexers.Execution{}, err
		}
		last := status.LastResult
		switch busy := last != nil && last.Status == indexers.ExecutionStatusInProgress; {
		case busy:
			idle = -1
		case opts.NoRun:
			if last != nil && last.Status != indexers.ExecutionStatusReset {
				return *last, failure(name, *last)
			}
		case !started:
			before = last
			if started, err = c.start(ctx, name); err != nil {
				return indexers.Execution{}, err
			}
		case last != nil && !sameExecution(before, last) && last.Status != indexers.ExecutionStatusReset:
			return *last, failure(name, *last)
		}
		if idle++; idle%idleUntilChecked == idleUntilChecked-1 {
			if err := c.enabled(ctx, name); err != nil {
				return indexers.Execution{}, indexerKind().call(operation, name).wrap(err)
			}
		}
		if err := pause.wait(ctx); err != nil {
			return indexers.Execution{}, indexerKind().call(operation, name).wrap(err)
		}
	}
}

// enabled returns an error if an indexer is disabled.
func (c *IndexerClient) enabled(ctx context.Context, name string) error {
	x, err := c.GetIndexer(ctx, name, nil)
	if err == nil && x.Disabled != nil && *x.Disabled {
		err = errors.New("no execution has begun, because the indexer is disabled: set Disabled to false")
	}
	return err
}

// start runs an indexer. It returns false without an error if the indexer is already running.
func (c *IndexerClient) start(ctx context.Context, name string) (bool, error) {
	err := c.RunIndexer(ctx, name, nil)
	var refused *Error
	if errors.As(err, &refused) && (refused.StatusCode == http.StatusConflict || refused.StatusCode == http.StatusTooManyRequests) {
		return false, nil
	}
	return err == nil, err
}

// sameExecution reports whether last is the same execution or reset as before.
func sameExecution(before, last *indexers.Execution) bool {
	switch {
	case before == nil || last == nil:
		return before == last
	case before.StartTime == nil || last.StartTime == nil:
		return before.StartTime == last.StartTime && before.Status == last.Status
	}
	return before.StartTime.Equal(*last.StartTime)
}

func failure(name string, x indexers.Execution) error {
	if x.Status == indexers.ExecutionStatusSuccess && x.ItemsFailed == 0 {
		return nil
	}
	return &IndexerError{Name: name, Execution: x}
}

// pauses are growing pauses.
type pauses struct{ next, most time.Duration }

// wait waits for the next pause, or returns the error of ctx when that ends.
func (p *pauses) wait(ctx context.Context) error {
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	p.next = min(p.next+p.next/2, p.most)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
