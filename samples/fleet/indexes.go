package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// Item is a document.
type Item struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version" search:"filterable"`
	Text    string `json:"text" search:"searchable"`
}

// The classes of this program. Choose your own, but put documents that a user waits for into another class than
// documents that no user waits for.
const (
	live     = models.ClassExpedited  // a user waits for it: never queued behind another class
	steady   = models.ClassAssured1   // changes from other systems
	backfill = models.ClassBestEffort // may be late
)

// indexes are all indexes of a service.
type indexes struct {
	client *search.IndexClient
	fleet  *fleet.Fleet
	ledger *ledger
}

// newIndexes creates the fleet. It sends no request.
func newIndexes(client *search.IndexClient, logger *slog.Logger) (*indexes, error) {
	names := func(ctx context.Context) iter.Seq2[string, error] { return client.ListIndexNames(ctx, nil) }
	f, err := fleet.New(fleet.From(client.Client, names), &fleet.Options{
		// The bounds of this process, for any number of indexes: its requests in flight and its buffered documents.
		// Forty floors of 500 fit into the budget, so that each index has room of its own.
		Pool: &pool.Options{
			Expedited: 4, Shared: 8,
			BufferedActions: 40_000, FloorActions: 500,
		},
		Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	return &indexes{client: client, fleet: f, ledger: &ledger{indexes: map[string][]*write{}}}, nil
}

// sender returns the sender of an index. Call it once and keep the result: after Drop the fleet would make a new
// sender for the deleted index.
func (x *indexes) sender(index string, autoFlush time.Duration) (*bufferedsender.BufferedSender[Item], error) {
	return fleet.Sender(x.fleet, index, &bufferedsender.Options[Item]{
		AutoFlushInterval: autoFlush, // latency of a document while there is little to send
		Limits:            bufferedsender.Limits{MaxBatchActions: 500, MaxBufferedActions: 8000},
	})
}

// write adds items to an index in a class. It blocks while the buffer is full.
func (x *indexes) write(ctx context.Context, index string, s *bufferedsender.BufferedSender[Item], class models.Class, items ...Item) error {
	writes := x.ledger.begin(index, class, items)
	actions := make([]models.IndexDocumentsAction[Item], len(items))
	for i, item := range items {
		actions[i] = models.UploadAction(item).WithCallback(func(o models.Outcome) { x.ledger.settled(writes[i], o) })
	}
	err := s.IndexDocuments(models.WithClass(ctx, class), actions...)
	accepted := len(items)
	if add, ok := errors.AsType[*bufferedsender.AddError](err); ok {
		accepted = add.Accepted // the first ones; the others have no outcome
	} else if err != nil {
		accepted = 0
	}
	x.ledger.accepted(writes[:accepted])
	return err
}

// watch drops the senders of deleted indexes until ctx ends, and returns for each the error of Drop. A sender does
// not end when its index is missing, because the index may be about to be created again; its documents wait.
func (x *indexes) watch(ctx context.Context) (dropped map[string]*bufferedsender.CloseError, err error) {
	dropped = map[string]*bufferedsender.CloseError{}
	for stage.Wait(ctx, 100*time.Millisecond) {
		for _, h := range x.fleet.Health().Indexes {
			if answer, ok := errors.AsType[*azcore.ResponseError](h.Err); !ok || answer.StatusCode != http.StatusNotFound {
				continue
			}
			gone, err := x.missing(ctx, h.Index)
			if err != nil || !gone {
				continue // the next round checks again
			}
			lost, err := x.drop(ctx, h.Index)
			if err != nil {
				return dropped, err
			}
			dropped[h.Index] = lost
		}
	}
	return dropped, nil
}

// missing reports whether the service no longer lists an index. A 404 alone could come from a wrong address.
func (x *indexes) missing(ctx context.Context, index string) (bool, error) {
	var names []string
	for name, err := range x.client.ListIndexNames(ctx, nil) {
		if err != nil {
			return false, err
		}
		names = append(names, name)
	}
	return !slices.Contains(names, index), nil
}

// drop closes the sender of an index for good. It gives up documents that are not sent within 200 ms; each has its
// outcome when Drop returns. It returns nil if nothing was left.
func (x *indexes) drop(ctx context.Context, index string) (*bufferedsender.CloseError, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 200*time.Millisecond)
	defer cancel()
	err := x.fleet.Drop(ctx, index)
	if lost, ok := errors.AsType[*bufferedsender.CloseError](err); ok {
		return lost, nil
	}
	return nil, err
}

// close closes all senders at once, under one deadline.
func (x *indexes) close(ctx context.Context) error {
	// A deadline of its own, so that accepted documents are sent after Ctrl-C has ended ctx.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	if err := x.fleet.Close(ctx); err != nil {
		return fmt.Errorf("not everything was sent: %w", err) // a *fleet.Error, with what each index has left
	}
	return nil
}
