package queuecontrol

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// patience is how long the owner waits for the request of a client, and for the client to take the reply.
	patience = 5 * time.Second
	// requestBytes is the maximum size of a request.
	requestBytes = 64 << 20
	// acceptAgain is how long the owner waits after accepting a connection has failed, for example for lack of file
	// descriptors.
	acceptAgain = time.Second
)

// Serve makes the socket in a directory, replacing one left by a dead owner, and serves it with one goroutine. The
// caller must hold the lock of the directory. stop waits for a call in progress and removes the socket. On Windows the
// error is errors.ErrUnsupported, because a file mode does not protect a socket there.
func Serve(dir string, q Queue, log *slog.Logger) (stop func() error, err error) {
	if runtime.GOOS == "windows" {
		return nil, errors.ErrUnsupported
	}
	dir, err = filepath.Abs(dir) // the program may change its working directory
	if err != nil {
		return nil, err
	}
	l, err := listen(dir)
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, socketName)
	made, err := os.Lstat(socket)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &server{q: q, log: log, listener: l, quit: make(chan struct{}), ended: make(chan struct{})}
	go s.run()
	return func() error {
		close(s.quit)
		err := l.Close()
		if conn := s.reading.Load(); conn != nil {
			_ = conn.SetReadDeadline(time.Now()) // fails if the connection has ended
		}
		<-s.ended
		// The directory may have been renamed, or removed and made again for another owner, with a socket of its own.
		if there, gone := os.Lstat(socket); gone == nil && os.SameFile(made, there) {
			err = errors.Join(err, os.Remove(socket))
		}
		return err
	}, nil
}

// listen makes the socket in a directory that only its owner may enter, so that no other user can connect before its
// mode is set, and then renames it.
func listen(dir string) (l *net.UnixListener, err error) {
	making := filepath.Join(dir, makingName)
	if err := errors.Join(os.RemoveAll(making), os.Mkdir(making, 0o700)); err != nil {
		return nil, err
	}
	err = within(dir, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(path, makingName, socketName)})
		return err
	})
	if err == nil {
		l.SetUnlinkOnClose(false) // it will have another name
		made := filepath.Join(making, socketName)
		if err = os.Chmod(made, 0o600); err == nil {
			err = os.Rename(made, filepath.Join(dir, socketName))
		}
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return l, errors.Join(err, os.RemoveAll(making))
}

type server struct {
	q           Queue
	log         *slog.Logger
	listener    *net.UnixListener
	quit, ended chan struct{}
	reading     atomic.Pointer[net.UnixConn] // the connection whose request is awaited
}

func (s *server) run() {
	defer close(s.ended)
	for {
		conn, err := s.listener.AcceptUnix()
		if err == nil {
			err = s.answer(conn)
			_ = conn.Close() // the client has its reply, or has left
			if err != nil {
				s.log.Debug("queuecontrol: command without a reply", "error", err)
			}
			continue
		}
		select {
		case <-s.quit:
			return
		case <-time.After(acceptAgain):
		}
	}
}

// answer serves a connection. An error means that the client got no reply.
func (s *server) answer(conn *net.UnixConn) error {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	s.reading.Store(conn)
	defer s.reading.Store(nil)
	select {
	case <-s.quit: // quit may have been closed before conn was visible
		return nil
	default:
	}
	var r request
	if err := gob.NewDecoder(io.LimitReader(conn, requestBytes)).Decode(&r); err != nil {
		return err
	}
	answer := s.do(context.Background(), &r) // Close of the queue waits for it
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	return gob.NewEncoder(conn).Encode(answer)
}

func (s *server) do(ctx context.Context, r *request) *reply {
	var a reply
	var err error
	changes := true
	switch r.Call {
	case callStats:
		a.Stats, err = s.q.Stats(ctx)
		changes = false
	case callInspect:
		a.Entries, err = s.q.Inspect(ctx, r.What)
		changes = false
	case callUnpark:
		a.Changed, err = s.q.Unpark(ctx, r.Keys...)
	case callDrop:
		a.Changed, err = s.q.Drop(ctx, r.Keys...)
	case callPause:
		err = s.q.Pause(ctx, r.Reason)
	case callResume:
		err = s.q.Resume(ctx)
	default:
		err = fmt.Errorf("command %q is not known to the program that owns the queue", r.Call)
		changes = false
	}
	if changes {
		s.log.Info("queuecontrol: queue changed by an operator", "command", string(r.Call), "keys", a.Changed, "reason", r.Reason, "error", err)
	}
	if err != nil {
		a.Err = err.Error()
	}
	return &a
}
