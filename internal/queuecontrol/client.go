package queuecontrol

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// replyWithin is how long a Client waits for a reply: a stopped owner does not answer.
const replyWithin = 30 * time.Second

// Client calls the owner of the queue in a directory. An error has ErrAbsent in its chain if the owner was not reached,
// and queue.ErrUnknown if the owner may have executed the call.
type Client struct {
	// Dir is the directory of the queue.
	Dir string
}

// Stats implements queue.Queue.
func (c *Client) Stats(ctx context.Context) (queue.Stats, error) {
	a, err := c.call(ctx, &request{Call: callStats})
	return a.Stats, err
}

// Inspect implements queue.Admin.
func (c *Client) Inspect(ctx context.Context, what queue.Inspection) ([]queue.Entry, error) {
	a, err := c.call(ctx, &request{Call: callInspect, What: what})
	return a.Entries, err
}

// Unpark implements queue.Admin.
func (c *Client) Unpark(ctx context.Context, keys ...string) (int, error) {
	a, err := c.call(ctx, &request{Call: callUnpark, Keys: keys})
	return a.Changed, err
}

// Drop implements queue.Admin.
func (c *Client) Drop(ctx context.Context, keys ...string) (int, error) {
	a, err := c.call(ctx, &request{Call: callDrop, Keys: keys})
	return a.Changed, err
}

// Pause implements queue.Admin.
func (c *Client) Pause(ctx context.Context, reason string) error {
	_, err := c.call(ctx, &request{Call: callPause, Reason: reason})
	return err
}

// Resume implements queue.Admin.
func (c *Client) Resume(ctx context.Context) error {
	_, err := c.call(ctx, &request{Call: callResume})
	return err
}

// Close does nothing: each call has its own connection.
func (c *Client) Close() error { return nil }

func (c *Client) call(ctx context.Context, r *request) (a reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, replyWithin)
	defer cancel()
	var conn net.Conn
	err = within(c.Dir, func(path string) error {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", filepath.Join(path, socketName))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return a, fmt.Errorf("%w: %w", ErrAbsent, err)
	case err != nil:
		return a, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) }) // unblocks the calls below
	defer stop()
	if err = gob.NewEncoder(conn).Encode(r); err == nil {
		err = gob.NewDecoder(conn).Decode(&a)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return reply{}, fmt.Errorf("the program that owns the queue has not replied: %w: %w", queue.ErrUnknown, err)
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}
