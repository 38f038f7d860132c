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

// The keys of the service. Both are valid at first; the first one is invalid after its rotation.
const (
	firstKey  = "faults-first-key"
	secondKey = "faults-second-key"
)

// serviceConfig configures the service of a row.
type serviceConfig struct {
	Latency  searchtest.Duration  `json:"latency,omitempty"`
	Capacity *searchtest.Capacity `json:"capacity,omitempty"`
	Faults   *searchtest.Faults   `json:"faults,omitempty"` // from the start
	Actions  int                  `json:"actions"`          // number in the plan, for the text
	Longest  int                  `json:"longest"`          // body, in bytes
	Trouble  trouble              `json:"trouble"`          // faults that a script cannot cause
}

// service is the emulator on a port that can be switched off and on, behind a witness. It runs in its own process
// (see serve), so that the memory of the sender's process is the sender's, and broken connections are real.
type service struct {
	emulator *searchtest.Server
	witness  *witness
	address  string
	control  *http.Server
	door     frontDoor
	named    int // see trouble.Named

	active sync.WaitGroup // requests in flight

	mu      sync.Mutex // guards the fields below
	up      *http.Server
	rotated bool
	over    bool // refuse further requests
}

// addresses is the output of a service when it is ready.
type addresses struct {
	Service string `json:"service"`
	Control string `json:"control"`
}

func startService(c serviceConfig) (*service, addresses, error) {
	s := &service{
		emulator: searchtest.NewServer(&searchtest.Options{
			AdminKeys:     []string{firstKey, secondKey},
			MaxBatchBytes: -1, // rows with a limit set it as a fault
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
	go func() { _ = s.control.Serve(socket) }() // until close
	return s, addresses{Service: "http://" + s.address, Control: "http://" + socket.Addr().String()}, nil
}

// controls returns the handler by which a row controls its service.
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

// testimony waits for the requests in flight, whose clients have given up, and returns the record.
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

// ServeHTTP counts the requests in flight, because http.Server.Close does not wait for them.
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

// switchOn starts listening. Otherwise connections are refused.
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
		ErrorLog: log.New(io.Discard, "", 0), // connections are cut on purpose
	}
	go func(up *http.Server) { _ = up.Serve(socket) }(s.up) // until it is closed
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

// checkKey intercepts requests. After the rotation it removes the first key, so the emulator replies 401.
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

// serve runs a service until its standard input is closed.
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
