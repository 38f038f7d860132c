package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The keys of the service. The second is valid from the beginning and the first
// until it is rotated away.
const (
	firstKey  = "faults-first-key"
	secondKey = "faults-second-key"
)

// serviceConfig is what the service of a row is like when nothing goes wrong.
type serviceConfig struct {
	Latency  searchtest.Duration  `json:"latency,omitempty"`
	Capacity *searchtest.Capacity `json:"capacity,omitempty"`
	Faults   *searchtest.Faults   `json:"faults,omitempty"` // from the beginning
	Actions  int                  `json:"actions"`          // in the plan, for the text
	Longest  int                  `json:"longest"`          // body, in bytes
	Trouble  trouble              `json:"trouble"`          // that a script cannot say
}

// service is the emulator on a port that can be switched off and on, with a
// witness in front. It runs in a process of its own (see serve), so that what
// the sender's process holds is the sender's, and a connection that breaks is a
// real one.
type service struct {
	emulator *searchtest.Server
	witness  *witness
	address  string
	control  *http.Server
	door     frontDoor
	named    int // as trouble.Named

	active sync.WaitGroup // requests under way

	mu      sync.Mutex // guards the fields below
	up      *http.Server
	rotated bool
	over    bool // no more requests
}

// addresses is what a service prints when it is ready.
type addresses struct {
	Service string `json:"service"`
	Control string `json:"control"`
}

func startService(c serviceConfig) (*service, addresses, error) {
	s := &service{
		emulator: searchtest.NewServer(&searchtest.Options{
			AdminKeys:     []string{firstKey, secondKey},
			MaxBatchBytes: -1, // rows that have a limit set it as a fault
			Latency:       time.Duration(c.Latency),
			Capacity:      c.Capacity,
			KeepRequests:  1 << 20,
			KeepChanges:   1 << 26,
		}),
		witness: newWitness(newText(c.Actions, c.Longest)),
	}
	if err := s.emulator.CreateIndex(c.Trouble.definition()); err != nil {
		return nil, addresses{}, err
	}
	s.door.firewall, s.named = c.Trouble.Firewall, c.Trouble.Named
	s.emulator.Intercept(c.Trouble.name)
	s.emulator.Intercept(s.witness.intercept)
	s.emulator.Intercept(s.checkKey)
	s.emulator.Intercept(c.Trouble.intercept)
	s.emulator.Intercept(s.door.intercept)
	s.emulator.SetFaults(c.Faults)
	if err := s.switchOn("127.0.0.1:0"); err != nil {
		return nil, addresses{}, err
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, addresses{}, errors.Join(err, s.close())
	}
	s.control = &http.Server{Handler: s.controls(), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.control.Serve(socket) }() // ends with close
	return s, addresses{Service: "http://" + s.address, Control: "http://" + socket.Addr().String()}, nil
}

// controls is how the row steers its service.
func (s *service) controls() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, f func(body io.Reader) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := f(r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	handle("/faults", func(body io.Reader) error {
		script, err := searchtest.ParseFaults(body)
		if err == nil {
			s.emulator.SetFaults(script)
		}
		return err
	})
	handle("/off", func(io.Reader) error { return s.switchOff() })
	handle("/on", func(io.Reader) error { return s.switchOn(s.address) })
	handle("/drop", func(io.Reader) error { return s.witness.drop(s.emulator) })
	handle("/mend", func(io.Reader) error { return mend(s.emulator) })
	mux.HandleFunc("POST /front/{name}", func(_ http.ResponseWriter, r *http.Request) { s.door.stand(r.PathValue("name")) })
	handle("/rotate", func(io.Reader) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rotated = true
		return nil
	})
	mux.HandleFunc("GET /testimony", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.testimony())
	})
	return mux
}

// testimony waits for the requests under way, of which no client wants to know
// any more, before it looks.
func (s *service) testimony() *testimony {
	_ = s.switchOff()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.active.Wait()
	t := s.witness.testify(s.emulator)
	t.Firewall, t.Named = s.door.firewall, s.named
	return t
}

// ServeHTTP counts the requests under way: http.Server.Close does not wait for
// them.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.active.Add(1)
	s.mu.Unlock()
	defer s.active.Done()
	s.emulator.ServeHTTP(w, r)
}

// switchOn listens. Connecting is refused otherwise.
func (s *service) switchOn(address string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up != nil {
		return nil
	}
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s.address = socket.Addr().String()
	s.up = &http.Server{
		Handler: s, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // cut connections are on purpose
	}
	go func(up *http.Server) { _ = up.Serve(socket) }(s.up) // ends when it is closed
	return nil
}

// switchOff stops listening and breaks every connection.
func (s *service) switchOff() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up == nil {
		return nil
	}
	err := s.up.Close()
	s.up = nil
	return err
}

// checkKey is an interceptor that takes the first key away once it is rotated:
// the emulator then answers 401, as to a request without one.
func (s *service) checkKey(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	s.mu.Lock()
	rotated := s.rotated
	s.mu.Unlock()
	if rotated && req.Header.Get("Api-Key") == firstKey {
		req.Header.Del("Api-Key")
	}
	return next(req)
}

func (s *service) close() error {
	err := s.switchOff()
	if s.control != nil {
		err = errors.Join(err, s.control.Close())
	}
	return errors.Join(err, s.emulator.Close())
}

// serve is a service that lives as long as its standard input is open.
func serve(_ context.Context, config []byte, std cli.Streams) error {
	var c serviceConfig
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("the configuration of the service: %w", err)
	}
	s, at, err := startService(c)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(std.Out).Encode(at); err != nil {
		return errors.Join(err, s.close())
	}
	_, _ = io.Copy(io.Discard, std.In)
	return s.close()
}
