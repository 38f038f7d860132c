package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// emulated is an index of the emulator with the documents of generated{n}, except those left out.
type emulated struct {
	service *searchtest.Server
	client  *search.Client
	sender  *bufferedsender.BufferedSender[item]
	rows    *search.Rows
	slow    atomic.Int64 // added to the duration of a request, in nanoseconds
}

func (e *emulated) credential() *azcore.KeyCredential {
	return azcore.NewKeyCredential(searchtest.AdminKey)
}
func (e *emulated) options() azcore.ClientOptions { return azcore.ClientOptions{Transport: e} }

// Do is the transport of the client.
func (e *emulated) Do(r *http.Request) (*http.Response, error) {
	if d := time.Duration(e.slow.Load()); d > 0 {
		if err := slow.Wait(r.Context(), d); err != nil {
			return nil, err
		}
	}
	return e.service.Do(r)
}

// emulate loads n documents, except those for which without returns true.
func emulate(ctx context.Context, n int, without func(i int) bool) (*emulated, error) {
	e, err := empty()
	if err != nil {
		return nil, err
	}
	return e, e.load(ctx, n, without)
}

func empty() (_ *emulated, err error) {
	e := &emulated{service: searchtest.NewServer(nil)}
	fields, err := models.FieldsOf[item]()
	if err != nil {
		return nil, err
	}
	definition, err := json.Marshal(models.SearchIndex{Name: "items", Fields: fields})
	if err != nil {
		return nil, err
	}
	if err := e.service.CreateIndex(string(definition)); err != nil {
		return nil, err
	}
	e.client, err = search.NewClientWithKey(e.service.URL(), "items", e.credential(), &search.ClientOptions{ClientOptions: e.options()})
	if err != nil {
		return nil, err
	}
	if e.sender, err = bufferedsender.New(e.client, &bufferedsender.Options[item]{Logger: quiet}); err != nil {
		return nil, err
	}
	e.rows, err = search.NewRows(e.client, &search.RowsOptions{Version: "version"})
	return e, err
}

func (e *emulated) load(ctx context.Context, n int, without func(i int) bool) error {
	for i := range n {
		if without != nil && without(i) {
			continue
		}
		if err := e.sender.UploadDocuments(ctx, itemOf(i)); err != nil {
			return err
		}
	}
	return e.sender.Flush(ctx, nil)
}

func (e *emulated) close() error {
	return errors.Join(e.sender.Close(context.Background()), e.service.Close())
}

// scan reads the index without a comparison.
func (e *emulated) scan(ctx context.Context) (n int, took time.Duration, err error) {
	began := time.Now()
	for _, err := range e.rows.Scan(ctx, "", "") {
		if err != nil {
			return 0, 0, err
		}
		n++
	}
	return n, time.Since(began), nil
}

// compareIndex compares an index that equals its source.
func compareIndex(ctx context.Context, p *plan, t *figures.Table) (err error) {
	e, err := emulate(ctx, p.documents, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if _, _, err := e.scan(ctx); err != nil { // the first scan makes the emulator sort its documents
		return err
	}
	n, alone, err := e.scan(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	r := repair.Repairer{Source: generated{p.documents}, Index: e.rows, Sender: e.sender.Raw(), Options: repair.Options{Logger: quiet}}
	report, err := r.Run(ctx)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if n != p.documents || !report.Agrees() || report.IndexRows != int64(n) {
		return fmt.Errorf("%d documents of %d, and the report is %+v", n, p.documents, report)
	}
	t.Add("comparing / scanning the index alone", figures.AtMost(1.5), took.Seconds()/alone.Seconds())
	t.Add("scanning the index alone: s", figures.Informs, alone.Seconds())
	return nil
}

// large compares many rows without a cost of reading.
func large(ctx context.Context, p *plan, t *figures.Table) error {
	before := measure.Heap()
	most := before
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, float64(m.HeapAlloc))
			}
		}
	})
	began := time.Now()
	r := repair.Repairer{Source: generated{p.rows}, Index: generated{p.rows}, Options: repair.Options{DryRun: true, Logger: quiet}}
	report, err := r.Run(ctx)
	took := time.Since(began)
	close(done)
	group.Wait()
	if err != nil {
		return err
	}
	if report.SourceRows != int64(p.rows) || !report.Agrees() {
		return fmt.Errorf("the report is %+v", report)
	}
	t.Add("heap, maximum: MB", figures.AtMost(64), (most-before)/(1<<20))
	t.Add("rows of both sides a second", figures.Informs, 2*float64(p.rows)/took.Seconds())
	return nil
}

// differences repairs one document of a hundred. The time of comparing is measured separately and subtracted.
func differences(ctx context.Context, p *plan, t *figures.Table) (err error) {
	missing := func(i int) bool { return i%100 == 7 }
	e, err := emulate(ctx, p.documents, missing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if _, _, err := e.scan(ctx); err != nil { // the first scan makes the emulator sort its documents
		return err
	}
	const pause = 10 * time.Millisecond
	r := repair.Repairer{Source: generated{p.documents}, Index: e.rows, Sender: e.sender.Raw(), Options: repair.Options{Pause: pause, MaxShare: 1, Logger: quiet}}
	began := time.Now()
	report, err := r.Run(ctx)
	if err != nil {
		return err
	}
	repairing := time.Since(began)
	n := int64((p.documents + 92) / 100)
	if report.Repaired != n {
		return fmt.Errorf("%d documents of %d were repaired: %+v", report.Repaired, n, report)
	}
	began = time.Now()
	if report, err = r.Run(ctx); err != nil {
		return err
	}
	comparing := time.Since(began)
	if !report.Agrees() {
		return fmt.Errorf("the report is %+v", report)
	}
	began = time.Now()
	for i := range p.documents {
		if missing(i) {
			if err := e.sender.UploadDocuments(ctx, itemOf(i)); err != nil {
				return err
			}
		}
	}
	if err := e.sender.Flush(ctx, nil); err != nil {
		return err
	}
	sending := time.Since(began)
	t.Add("duration of a repair relative to a comparison and the sending", figures.AtMost(1.3), repairing.Seconds()/(comparing+sending).Seconds())
	t.Add("comparing: s", figures.Informs, comparing.Seconds())
	t.Add("sending: s", figures.Informs, sending.Seconds())
	return nil
}

// live measures writers with and without concurrent passes, alternating.
func live(ctx context.Context, p *plan, t *figures.Table) error {
	const keys, turns = 20_000, 3
	index := newTable(keys, 50*time.Millisecond)
	sender, err := bufferedsender.New(index, &bufferedsender.Options[item]{Logger: quiet, Limits: bufferedsender.Limits{MaxInFlight: 2}})
	if err != nil {
		return err
	}
	var with, without, passes float64
	for turn := range 2 * turns {
		ending, cancel := context.WithTimeout(ctx, p.window)
		var group sync.WaitGroup
		errs := make([]error, 5)
		index.mu.Lock()
		before := index.written
		index.mu.Unlock()
		for w := range 4 {
			group.Go(func() {
				for i := w; ending.Err() == nil && errs[w] == nil; i += 4 {
					errs[w] = sender.UploadDocuments(ctx, item{ID: key(i % keys), Version: 2})
				}
			})
		}
		if turn%2 == 1 {
			group.Go(func() {
				r := repair.Repairer{Source: index, Index: index, Sender: sender.Raw(), Options: repair.Options{Pause: 50 * time.Millisecond, Logger: quiet}}
				for ending.Err() == nil {
					_, err := r.Run(ending)
					if err != nil && ending.Err() == nil {
						errs[4] = err
						return
					}
					passes++
				}
			})
		}
		group.Wait()
		cancel()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		index.mu.Lock()
		n := float64(index.written - before)
		index.mu.Unlock()
		if turn%2 == 1 {
			with += n
		} else {
			without += n
		}
	}
	t.Add("documents written with passes / without", figures.AtLeast(0.95), with/without)
	t.Add("documents a second without", figures.Informs, without/turns/p.window.Seconds())
	t.Add("passes", figures.Informs, passes)
	return sender.Close(ctx)
}

// deleteWhere deletes a tenth of the documents by filter, and as many by their keys, with 50 ms added to each
// request.
func deleteWhere(ctx context.Context, p *plan, t *figures.Table) error {
	tenth := func(i int) bool { return i%10 == 3 }
	run := func(remove func(e *emulated) error) (took time.Duration, err error) {
		e, err := emulate(ctx, p.documents, nil)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, e.close()) }()
		e.slow.Store(int64(50 * time.Millisecond))
		began := time.Now()
		err = remove(e)
		took = time.Since(began)
		e.slow.Store(0)
		if n, _, err := e.scan(ctx); err != nil || n != p.documents-(p.documents+6)/10 {
			return 0, errors.Join(err, fmt.Errorf("%d documents are left of %d", n, p.documents))
		}
		return took, err
	}
	byKey, err := run(func(e *emulated) error {
		for i := range p.documents {
			if tenth(i) {
				if err := e.sender.DeleteDocuments(ctx, item{ID: key(i)}); err != nil {
					return err
				}
			}
		}
		return e.sender.Flush(ctx, nil)
	})
	if err != nil {
		return err
	}
	byFilter, err := run(func(e *emulated) error {
		matching, err := search.NewRows(e.client, &search.RowsOptions{Filter: search.Eq("tenth", true), ReadAhead: 4})
		if err != nil {
			return err
		}
		_, err = repair.DeleteWhere(ctx, matching, e.sender.Raw(), &repair.DeleteOptions{MaxShare: 0.2, Pause: -1, Total: func(ctx context.Context) (int64, error) {
			return e.client.DocumentCount(ctx, nil)
		}})
		return err
	})
	if err != nil {
		return err
	}
	t.Add("deleting by filter / by keys that are known", figures.AtMost(2), byFilter.Seconds()/byKey.Seconds())
	t.Add("deleting by keys that are known: s", figures.Informs, byKey.Seconds())
	return nil
}
