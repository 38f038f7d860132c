package searchtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

// listening is a running listener of a server.
type listening struct {
	url    string
	pool   *x509.CertPool // nil without TLS
	server *http.Server
	done   chan struct{} // closed when the accepting goroutine has ended
	grace  time.Duration // the time requests get to finish when it closes

	mu      sync.Mutex            // guards the fields below
	active  int                   // running handlers
	closing bool                  // refuses new requests
	idle    chan struct{}         // closed when closing and no handler runs
	conns   map[net.Conn]struct{} // the open connections
	killed  bool                  // refuses new connections too
}

// Listen serves plain HTTP on addr, a TCP address, until StopListening or Close. Port 0
// chooses a free port: see URL. It returns when clients can connect.
func (s *Server) Listen(addr string) error { return s.listen(addr, false) }

// ListenTLS is Listen over TLS, HTTP/2 included. It makes a certificate for localhost,
// 127.0.0.1, ::1 and the host of addr; CertPool returns it for clients. Listening again on
// the same host reuses the certificate.
func (s *Server) ListenTLS(addr string) error { return s.listen(addr, true) }

// StopListening disconnects the server from the network as if its process were killed. New
// connections are refused. Open ones are reset, which ends the contexts of their requests;
// as after a crash, these may have been carried out or not. It returns when all of them have
// ended, so an interceptor that ignores its context blocks it.
//
// Unlike after Close, the server keeps working: indexes, documents, faults and the data for
// inspection stay, Transport and Do continue, and Listen may be called again, also with the
// same address. Without a listener StopListening does nothing.
func (s *Server) StopListening() error {
	s.mu.Lock()
	l := s.listening
	s.listening = nil
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.kill()
}

func (s *Server) listen(addr string, secure bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("searchtest: the server is closed")
	}
	if s.listening != nil {
		return errors.New("searchtest: the server is listening on " + s.listening.url + " already")
	}
	l := &listening{done: make(chan struct{}), idle: make(chan struct{}), grace: time.Second, conns: make(map[net.Conn]struct{})}
	l.server = &http.Server{
		Handler:           l.handler(s),
		ConnState:         l.connState,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // cut connections are on purpose
	}
	scheme := "http"
	if secure {
		scheme = "https"
		id, err := s.identityFor(addr)
		if err != nil {
			return fmt.Errorf("searchtest: certificate: %w", err)
		}
		l.pool = id.pool
		l.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{id.certificate}, MinVersion: tls.VersionTLS12}
	}
	socket, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("searchtest: %w", err)
	}
	l.url = scheme + "://" + socket.Addr().String()
	go func() {
		defer close(l.done)
		if secure {
			_ = l.server.ServeTLS(socket, "", "") // returns when it is closed
		} else {
			_ = l.server.Serve(socket)
		}
	}()
	s.listening = l
	return nil
}

// handler counts the requests that s serves.
func (l *listening) handler(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		if l.closing {
			l.mu.Unlock()
			reset(w)
		}
		l.active++
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.active--; l.closing && l.active == 0 {
				close(l.idle)
			}
		}()
		s.ServeHTTP(w, r)
	})
}

// close stops accepting, lets running requests finish during the grace period, then breaks
// their connections, which ends their contexts. It waits for every goroutine, because
// http.Server does not wait for handlers.
func (l *listening) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.grace)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.server.Close()
	}
	l.wait()
	return err
}

// kill resets every connection and waits for every goroutine.
func (l *listening) kill() error {
	l.mu.Lock()
	l.killed = true
	for conn := range l.conns {
		resetConn(conn)
	}
	l.mu.Unlock()
	err := l.server.Close()
	l.wait()
	return err
}

// connState tracks the open connections. net/http calls it for each change.
func (l *listening) connState(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		if l.conns[conn] = struct{}{}; l.killed {
			resetConn(conn)
		}
	case http.StateClosed, http.StateHijacked:
		delete(l.conns, conn)
	}
}

// wait returns when no goroutine of the closed server runs.
func (l *listening) wait() {
	<-l.done
	l.mu.Lock()
	l.closing = true
	if l.active == 0 {
		close(l.idle)
	}
	l.mu.Unlock()
	<-l.idle
}

// ServeHTTP implements http.Handler, for callers with their own listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.intercepted() {
		// net/http detects that a client has gone, and ends the context of its request, only
		// after the body was read. An interceptor may wait for that context. Bytes beyond the
		// limit of a batch stay unread.
		limit := s.opts.MaxBatchBytes + 1
		if limit <= 0 {
			limit = math.MaxInt64 // none
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, limit))
		if err != nil {
			reset(w)
		}
		if int64(len(body)) < limit {
			r.Body = io.NopCloser(bytes.NewReader(body))
		} else {
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
		}
	}
	resp, err := s.answer(r)
	if err != nil || resp == nil {
		reset(w)
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	defer resp.Body.Close()
	h := w.Header()
	for name, values := range resp.Header {
		h[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		_ = http.NewResponseController(w).Flush() // deliver the first part of the body before breaking the connection
		panic(http.ErrAbortHandler)
	}
}

// reset breaks the connection of a request without closing it properly. It does not return.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		resetConn(conn)
	}
	panic(http.ErrAbortHandler) // HTTP/2 cannot be hijacked: this resets the stream
}

// resetConn closes a connection without a closing message of TLS or TCP.
func resetConn(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // RST instead of FIN
	}
	_ = conn.Close()
}
