package queuecontrol

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// owned is a queue that records changes.
type owned struct {
	mu     sync.Mutex
	done   []string
	called chan struct{} // receives when a change begins; nil: not used
	going  chan struct{} // releases the change
}

func (o *owned) note(what ...string) (int, error) {
	if o.called != nil {
		o.called <- struct{}{}
		<-o.going
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, strings.Join(what, " "))
	return len(what) - 1, nil
}

func (o *owned) Stats(context.Context) (queue.Stats, error) {
	return queue.Stats{Parked: 3, Paused: true, PauseReason: "a migration"}, nil
}

func (o *owned) Inspect(_ context.Context, what queue.Inspection) ([]queue.Entry, error) {
	if what.States != queue.Parked {
		return nil, errors.New("want what is parked")
	}
	return []queue.Entry{{Key: what.Keys[0], State: queue.Parked, Parked: []queue.Record{{Key: what.Keys[0], Body: []byte("{}")}}}}, nil
}

func (o *owned) Unpark(_ context.Context, keys ...string) (int, error) {
	return o.note(append([]string{"unpark"}, keys...)...)
}

func (o *owned) Drop(_ context.Context, keys ...string) (int, error) {
	n, _ := o.note(append([]string{"drop"}, keys...)...)
	return n, errors.New("the disk is gone")
}

func (o *owned) Pause(_ context.Context, reason string) error {
	_, err := o.note("pause", reason)
	return err
}

func (o *owned) Resume(context.Context) error {
	_, err := o.note("resume")
	return err
}

// serve serves a queue in a directory until the test ends.
func serve(t *testing.T, dir string, q Queue) (stop func() error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("not supported")
	}
	stop, err := Serve(dir, q, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	stop = sync.OnceValue(stop)
	t.Cleanup(func() { require.NoError(t, stop()) })
	return stop
}

func TestACallReachesTheOwnerAndItsAnswerTheCaller(t *testing.T) {
	dir, o := t.TempDir(), &owned{}
	serve(t, dir, o)
	c := &Client{Dir: dir}
	const odd = "no UTF-8: \xff"
	s, err := c.Stats(t.Context())
	require.NoError(t, err)
	assert.Equal(t, queue.Stats{Parked: 3, Paused: true, PauseReason: "a migration"}, s)
	entries, err := c.Inspect(t.Context(), queue.Inspection{States: queue.Parked, Keys: []string{odd}, Limit: 1})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, odd, entries[0].Key)
	assert.Equal(t, "{}", string(entries[0].Parked[0].Body))
	n, err := c.Unpark(t.Context(), "a", odd)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = c.Drop(t.Context(), "c")
	require.EqualError(t, err, "the disk is gone")
	assert.Equal(t, 1, n)
	require.NoError(t, c.Pause(t.Context(), "for a look"))
	require.NoError(t, c.Resume(t.Context()))
	assert.Equal(t, []string{"unpark a " + odd, "drop c", "pause for a look", "resume"}, o.done)
	_, err = c.call(t.Context(), &request{Call: "fly"})
	require.ErrorContains(t, err, `command "fly" is not known`)
}

func TestOnlyTheUserOfTheProgramMayChangeItsQueue(t *testing.T) {
	dir := t.TempDir()
	stop := serve(t, dir, &owned{})
	info, err := os.Lstat(filepath.Join(dir, socketName))
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket|0o600, info.Mode())
	require.NoError(t, stop())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "the socket ends with its owner")
}

func TestTheSocketOfADeadOwnerIsReplaced(t *testing.T) {
	dir, o := t.TempDir(), &owned{}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, socketName)})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(dir, makingName, "half"), 0o700), "a process was killed while it made another directory")
	c := &Client{Dir: dir}
	require.ErrorIs(t, c.Resume(t.Context()), ErrAbsent)
	stop := serve(t, dir, o)
	require.NoError(t, c.Resume(t.Context()))
	require.NoError(t, stop())
	require.ErrorIs(t, c.Resume(t.Context()), ErrAbsent)
}

func TestADirectoryMayHaveALongPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the address of a socket is limited, without a workaround")
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 200))
	require.NoError(t, os.Mkdir(dir, 0o700))
	serve(t, dir, &owned{})
	require.NoError(t, (&Client{Dir: dir}).Resume(t.Context()))
}

func TestACallUnderWayEndsBeforeTheOwnerDoes(t *testing.T) {
	dir, o := t.TempDir(), &owned{called: make(chan struct{}), going: make(chan struct{})}
	stop := serve(t, dir, o)
	answer, done := make(chan error), make(chan []string)
	go func() { answer <- (&Client{Dir: dir}).Resume(t.Context()) }()
	<-o.called
	go func() {
		assert.NoError(t, stop())
		o.mu.Lock()
		defer o.mu.Unlock()
		done <- o.done
	}()
	for { // until stop has begun
		conn, err := net.Dial("unix", filepath.Join(dir, socketName))
		if err != nil {
			break
		}
		require.NoError(t, conn.Close())
	}
	runtime.Gosched()
	o.going <- struct{}{}
	require.NoError(t, <-answer)
	assert.Equal(t, []string{"resume"}, <-done)
}

func TestACallerThatSendsNothingDelaysNoEnd(t *testing.T) {
	dir := t.TempDir()
	stop := serve(t, dir, &owned{})
	conn, err := net.Dial("unix", filepath.Join(dir, socketName))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte{7}) // the beginning of a request
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, stop())
	require.Less(t, time.Since(began), patience)
}

func TestAnOwnerThatDiesInTheMiddleLeavesItUnknown(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	require.NoError(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if assert.NoError(t, err) {
			_, _ = conn.Read(make([]byte, 1))
			assert.NoError(t, conn.Close())
		}
	}()
	_, err = (&Client{Dir: dir}).Drop(t.Context(), "a")
	require.ErrorIs(t, err, queue.ErrUnknown)
	require.ErrorContains(t, err, "has not replied")
}

func TestACallEndsWithItsContext(t *testing.T) {
	dir, o := t.TempDir(), &owned{called: make(chan struct{}), going: make(chan struct{})}
	serve(t, dir, o)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- (&Client{Dir: dir}).Resume(ctx) }()
	<-o.called
	cancel()
	err := <-answer
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, queue.ErrUnknown)
	o.going <- struct{}{}
}
