package outboxpgx_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// way is a TCP proxy that can freeze connections: they stay open, but transfer nothing.
type way struct {
	listener net.Listener
	wg       sync.WaitGroup
	packets  atomic.Int64 // from the server

	mu     sync.Mutex
	frozen *atomic.Bool // of connections opened from now on
	conns  []net.Conn
}

func newWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &way{listener: l, frozen: new(atomic.Bool)}
	w.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			w.mu.Lock()
			frozen := w.frozen
			w.conns = append(w.conns, client, server)
			w.mu.Unlock()
			w.wg.Go(func() { w.carry(client, server, frozen, nil) })
			w.wg.Go(func() { w.carry(server, client, frozen, &w.packets) })
		}
	})
	t.Cleanup(w.close)
	return w
}

func (w *way) carry(from, to net.Conn, frozen *atomic.Bool, count *atomic.Int64) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if frozen.Load() {
			if err != nil {
				return
			}
			continue // and is lost
		}
		if count != nil {
			count.Add(1)
		}
		if _, err2 := to.Write(buffer[:n]); err != nil || err2 != nil {
			if err == io.EOF { //nolint:errorlint // Read returns it unwrapped
				_ = to.Close()
			}
			return
		}
	}
}

func (w *way) address() string { return w.listener.Addr().String() }

func (w *way) answered() int64 { return w.packets.Load() }

// freeze stops the transfer of all existing connections.
func (w *way) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen.Store(true)
	w.frozen = new(atomic.Bool)
}

func (w *way) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}
