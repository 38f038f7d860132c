package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
)

// batch has the leases of one reservation.
type batch struct {
	leases []queue.Lease
	until  time.Time // end of the leases
}

func (m *mover) reserve(ctx context.Context, only []string) (*batch, error) {
	b := &batch{until: time.Now().Add(m.o.Lease)}
	want := queue.Want{
		Token: queue.NewID(), Holder: m.holder, Name: m.o.Name, Keys: min(m.o.Keys, queue.MaxCall), Bytes: m.o.Bytes,
		For: m.o.Lease, Only: only,
	}
	if only != nil {
		want.Keys = len(only)
	}
	var err error
	b.leases, err = m.from.Reserve(ctx, want)
	return b, err
}

// left returns the remaining time of the leases by the monotonic or the wall clock, whichever is less: the monotonic
// clock stops while the machine sleeps, and the wall clock can be set back.
func (b *batch) left(now time.Time) time.Duration {
	return min(b.until.Sub(now), b.until.Round(0).Sub(now.Round(0)))
}

// extend extends the leases if less than two thirds of their duration remains.
func (m *mover) extend(ctx context.Context, b *batch) error {
	if b.left(time.Now()) >= m.o.Lease*2/3 {
		return nil
	}
	until := time.Now().Add(m.o.Lease)
	lost, err := m.from.Extend(ctx, m.o.Lease, b.leases...)
	switch {
	case err != nil:
		return fmt.Errorf("extending leases: %w", err)
	case len(lost) > 0:
		return fmt.Errorf("%s expired: this process was stopped, or the queues are slow", amount.Of(len(lost), "lease"))
	}
	b.until = until
	return nil
}

// release returns the keys that were not moved. It runs even if the context of Run has ended, so that other holders
// need not wait for the leases to expire.
func (m *mover) release(b *batch) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ends := make([]queue.End, len(b.leases))
	for i := range b.leases {
		ends[i] = queue.End{Lease: b.leases[i], Fate: queue.Release}
	}
	if _, _, err := m.from.Settle(ctx, ends...); err != nil && !errors.Is(err, queue.ErrClosed) {
		return fmt.Errorf("releasing: %w", err)
	}
	return nil
}
