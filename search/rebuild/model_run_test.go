package rebuild

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// fill is the source as seen by one process.
func (m *model) fill(p *process) Fill {
	return Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				m.w.mu.Lock()
				keys := slices.Sorted(maps.Keys(m.w.truth))
				m.w.mu.Unlock()
				for _, key := range keys {
					if key <= after {
						continue
					}
					for _, a := range m.read(key) {
						err := p.ask(ctx, "truth", func(context.Context) error { return nil })
						if !yield(a, err) || err != nil {
							return
						}
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			got := make(chan []models.RawAction, 1)
			err := p.ask(ctx, "truth", func(context.Context) error {
				got <- m.read(keys...)
				return nil
			})
			if err != nil {
				return nil, err
			}
			return <-got, nil
		},
	}
}

// lines is the hook of a runner.
func (m *model) lines(p *process, s modelStep) func(string) error {
	return func(line string) error {
		m.hot.Store(time.Now().Add(time.Second).UnixNano())
		if strings.HasPrefix(line, "close") && s.which%2 == 0 {
			time.Sleep(200 * time.Millisecond)
		}
		if t := p.sprung("line"); t != nil {
			switch t.what {
			case "kill":
				p.kill()
			case "stop":
				p.stop(t.long)
			case "cut":
				p.cutOff(t)
			}
		}
		if p.alive() != nil {
			return errStopped
		}
		return nil
	}
}

func (m *model) start(t *trap, work func(ctx context.Context, x *modelRun) error) *modelRun {
	ctx, cancel := context.WithCancel(context.Background())
	if t != nil {
		again := *t // a copy, because it counts skips and rapid may run the plan again
		t = &again
	}
	x := &modelRun{process: &process{m: m, trap: t}, cancel: cancel, done: make(chan struct{})}
	m.mu.Lock()
	m.runs = append(m.runs, x)
	m.mu.Unlock()
	go func() {
		defer close(x.done)
		defer x.ended.Store(true)
		x.err = work(ctx, x)
	}()
	return x
}

func (m *model) run(s modelStep) *modelRun {
	return m.start(s.trap, func(ctx context.Context, x *modelRun) error {
		p := x.process
		r := newRunner(processStore{p}, m.w.newClient(p))
		record := m.w.record()
		r.next = next(m.w.t)
		if r.next.Name = record.New; !record.active() || record.New == "" { // the index of an Abort that leaves it alone
			r.next.Name = m.name()
		}
		r.fill, r.line = m.fill(p), m.lines(p, s)
		var made *bufferedsender.BufferedSender[models.Document]
		r.opts = Options{Alias: aliasName, Alone: true, Always: true, Settle: s.settle, Keep: -1, Logger: quiet, Sender: func(index string) (Sender, error) {
			c, err := r.client.Client(index)
			if err != nil {
				return nil, err
			}
			made = m.w.sender(c, nil)
			return made.Raw(), nil
		}}
		m.w.noError(r.opts.check(r.store, r.client, r.next, r.fill))
		err := r.run(ctx)
		x.ended.Store(true)
		if err == nil {
			m.hold("Run has ended")
			m.checkRun(r.report)
		}
		for _, kind := range []error{ErrRunning, ErrTakenOver, ErrClosed, ErrTooSlow, ErrAliasMoved, errLost, context.Canceled} {
			if errors.Is(err, kind) {
				m.hold(kind.Error())
			}
		}
		if made == nil {
			return err
		}
		if err != nil && s.lives && !p.dead.Load() {
			_ = sleep.For(ctx, 2*time.Minute)
		}
		gone, cancel := context.WithCancel(context.Background())
		if cancel(); err == nil {
			gone, cancel = context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
		}
		_ = made.Close(gone)
		return err
	})
}

func (m *model) confirmed() map[string]int64 {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return maps.Clone(m.w.confirmed)
}

func (m *model) abort(s modelStep) *modelRun {
	return m.start(s.trap, func(ctx context.Context, x *modelRun) error {
		p := x.process
		r := newRunner(processStore{p}, m.w.newClient(p))
		r.opts.Settle, r.opts.Logger, r.line = s.settle, quiet, m.lines(p, s)
		phase := m.w.record().Phase
		err := r.abort(ctx)
		if err == nil {
			m.hold("Abort has ended when writers were " + string(phase))
		}
		return err
	})
}
