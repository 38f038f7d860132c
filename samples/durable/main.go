// Command durable shows that a durable queue loses no added document when processes die. It kills and freezes the
// processes that add and send documents at random, and then compares the index with the acknowledged additions.
//
//	go run ./samples/durable                     # queue in a directory; one process, restarted half-way
//	go run ./samples/durable -kill               # the same process, with kill -9 and freezes
//	go run ./samples/durable -kill -redis redis://localhost:6379/0
//
// With -redis two processes only add, two only send, and the Redis server keeps the queue. It needs Redis 7 with
// appendonly yes.
//
// worker.go is the part to copy: it opens a queue and passes it to a sender, and does nothing else about crashes.
// ledger.go computes what the index must contain; this file starts and ends the processes.
//
// One limit remains, because the service checks no leases: with -redis, a process that is frozen just before it
// writes a request may write it after waking up, and overwrite a newer document of another process. The next change
// of the key repairs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("durable", program) }

func program(p *stage.Program) func(context.Context) error {
	var j job
	logger := p.Logger()
	p.StringVar(&j.Redis, "redis", "", "keep the queue on the Redis server at `URL`, for several processes (default: a temporary directory, one process)")
	p.BoolVar(&j.Kill, "kill", false, "kill and freeze the processes at random")
	lasts := p.Duration("for", 15*time.Second, "add documents for this `DURATION`")
	newWorker := p.Worker(&j, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return j.work(ctx, logger.With("worker", os.Getpid()), in, out)
	})
	p.Check = func() error {
		if j.Kill && !stage.CanFreeze {
			return errors.New("-kill is not supported on this system: it needs the signals STOP and CONT")
		}
		return nil
	}
	return func(ctx context.Context) error {
		return play(ctx, &theatre{job: j, lasts: *lasts, out: p.Out, newWorker: newWorker})
	}
}

// theatre is the state of a run.
type theatre struct {
	job
	lasts     time.Duration
	newWorker func(stage.Worker) *stage.Worker

	out       io.Writer
	service   *stage.Service
	posts     []*post
	kills     int
	freezes   int
	restarts  int
	beginning time.Time
}

// post runs one process after another in the same role.
type post struct {
	*stage.Worker

	ledger *ledger // nil if the role does not add
	kept   int64   // keys that the last process left in the queue
}

// play starts the processes, lets them work, ends them, and checks the index.
func play(ctx context.Context, t *theatre) (err error) {
	// KeepRequests: verify counts the requests.
	t.service, err = stage.Serve[Doc](ctx, indexName, &searchtest.Options{KeepRequests: 1_000_000, KeepChanges: -1})
	if err != nil {
		return err
	}
	defer t.service.Close()
	t.Endpoint = t.service.Emulator.URL()
	roles := []string{"both"}
	if t.Redis == "" {
		dir, err := os.MkdirTemp("", "durable")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		t.Dir = filepath.Join(dir, "queue")
		fmt.Fprintf(t.out, "One process adds and sends; the queue is the directory %s.\n", t.Dir)
	} else {
		id := queue.NewID()
		t.Name = fmt.Sprintf("durable-%x", id[:4])
		q, err := t.open() // for Destroy at the end
		if err != nil {
			return err
		}
		defer q.Destroy(context.Background()) //nolint:errcheck // if the server is gone, so is the queue
		roles = []string{"add", "add", "send", "send"}
		fmt.Fprintf(t.out, "Two processes add and two send; the queue is %q on Redis.\n", t.Name)
		if says, ok := q.(queue.Survivor); ok {
			fmt.Fprintln(t.out, says.Survives())
		}
	}
	for _, role := range roles {
		w := t.newPost(role)
		defer w.Close() // before the queue is removed
		if err := w.Start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, t.lasts)
	defer cancel()
	t.beginning = time.Now()
	happens := t.restart
	if t.Kill {
		happens = t.disturb
	}
	if err := happens(ctx); err != nil {
		return err
	}
	if err := t.drain(); err != nil {
		return err
	}
	return t.verify()
}

func (t *theatre) newPost(role string) *post {
	p := &post{}
	w := stage.Worker{Role: role, Note: p.note}
	if role != "send" {
		p.ledger = newLedger(len(t.posts) + 1)
		w.Ended = p.ledger.died
	}
	w.Job = func() any {
		j := t.job
		if j.Role = role; p.ledger != nil {
			j.Adder, j.Next = p.ledger.adder, p.ledger.tried+1
		}
		return j
	}
	p.Worker = t.newWorker(w)
	t.posts = append(t.posts, p)
	return p
}

// note handles a line that a process reports.
func (p *post) note(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	var first, last int64
	if _, err := fmt.Sscan(rest, &first, &last); err != nil {
		return err
	}
	switch {
	case word == "end":
		p.kept = first
		return nil
	case word == "try" && p.ledger != nil:
		return p.ledger.try(first, last)
	case word == "ack" && p.ledger != nil:
		return p.ledger.ack(first, last)
	}
	return errors.New("unknown report")
}

// disturb kills and freezes random processes alternately until ctx ends.
func (t *theatre) disturb(ctx context.Context) error {
	pick := func() *stage.Worker { return t.posts[rand.IntN(len(t.posts))].Worker }
	return stage.Disturb(ctx, 450*time.Millisecond, pick, func(w *stage.Worker) error {
		if t.kills <= t.freezes {
			t.kills++
			return w.Kill()
		}
		t.freezes++
		if err := w.Freeze(); err != nil {
			return err
		}
		time.Sleep(time.Duration(350+rand.IntN(500)) * time.Millisecond) // longer than its leases
		return w.Thaw()
	})
}

// restart ends the sending processes half-way, as a deployment would, and starts them again.
func (t *theatre) restart(ctx context.Context) error {
	if !stage.Wait(ctx, t.lasts/2) {
		return nil
	}
	for _, p := range t.posts {
		if p.Role == "add" {
			continue
		}
		if err := errors.Join(p.Order("stop\n"), p.Finished()); err != nil {
			return err
		}
		t.restarts++
		fmt.Fprintf(t.out, "A process that sends was ended; %d keys wait in the queue. The next one continues.\n", p.kept)
		if err := p.Start(); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// drain ends the adders first, and then each sender when the queue is empty.
func (t *theatre) drain() error {
	fmt.Fprintln(t.out, "Adding has ended; the rest of the queue is sent.")
	for _, role := range []string{"add", "both", "send"} {
		var told []*post
		for _, p := range t.posts {
			if p.Role == role {
				if err := p.Order("drain\n"); err != nil {
					return err
				}
				told = append(told, p)
			}
		}
		for _, p := range told {
			if err := p.Finished(); err != nil {
				return err
			}
		}
	}
	return nil
}
