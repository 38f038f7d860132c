package searchtest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// listening is a server that can be reached over the network.
type listening struct {
	url    string
	pool   *x509.CertPool // nil without TLS
	server *http.Server
	done   chan struct{} // closed when the accepting goroutine has ended
	grace  time.Duration // for requests under way when it is closed

	mu      sync.Mutex    // guards the fields below
	active  int           // handlers that run
	closing bool          // no new ones
	idle    chan struct{} // closed when closing and none is left
}

// Listen makes the server reachable over plain HTTP on addr, a TCP address of
// which the port may be 0 for any free one; URL says where. It returns when
// clients can connect. Requests are served until Close.
func (s *Server) Listen(addr string) error { return s.listen(addr, false) }

// ListenTLS is Listen over TLS, HTTP/2 included, with a certificate that it
// makes for localhost, 127.0.0.1, ::1 and the host in addr. CertPool says how to
// trust it.
func (s *Server) ListenTLS(addr string) error { return s.listen(addr, true) }

func (s *Server) listen(addr string, secure bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("searchtest: the server is closed")
	}
	if s.listening != nil {
		return errors.New("searchtest: the server is listening on " + s.listening.url + " already")
	}
	l := &listening{done: make(chan struct{}), idle: make(chan struct{}), grace: time.Second}
	l.server = &http.Server{
		Handler:           l.handler(s),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // cut connections are on purpose
	}
	scheme := "http"
	if secure {
		scheme = "https"
		certificate, pool, err := selfSigned(addr)
		if err != nil {
			return fmt.Errorf("searchtest: certificate: %w", err)
		}
		l.pool = pool
		l.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
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

// close stops accepting, gives requests under way a moment, breaks the
// connections of those that take longer, which ends their contexts, and waits
// for every goroutine. http.Server does not wait for handlers itself.
func (l *listening) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.grace)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.server.Close()
	}
	<-l.done
	l.mu.Lock()
	l.closing = true
	if l.active == 0 {
		close(l.idle)
	}
	l.mu.Unlock()
	<-l.idle
	return err
}

// ServeHTTP makes the server an http.Handler, for listeners of the caller's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.intercepted() {
		// net/http sees that a client has gone, and ends the context of its
		// request, only when the body is read. An interceptor may wait for that.
		// What is above the limit of a batch is left where it is.
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
		_ = http.NewResponseController(w).Flush() // what there is must arrive before the end
		panic(http.ErrAbortHandler)
	}
}

// reset breaks the connection of a request, as abruptly as it can, and does not
// return.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		raw := conn
		if secure, ok := conn.(*tls.Conn); ok {
			raw = secure.NetConn()
		}
		if tcp, ok := raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // RST instead of FIN
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler) // HTTP/2 cannot be hijacked: this resets the stream
}

// selfSigned makes a certificate for the loopback and the host of addr.
func selfSigned(addr string) (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{Organization: []string{"azsearch searchtest"}},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: parsed}, pool, nil
}
