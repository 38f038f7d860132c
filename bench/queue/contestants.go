package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"go.etcd.io/bbolt"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/models"
)

// store is the minimum work of a queue: keep the newest document of each key durably, hand out the oldest keys, and
// delete sent ones.
type store interface {
	// append stores documents, synced when it returns. caller is the number of a concurrent caller.
	append(ctx context.Context, caller int, keys []string, body []byte) error
	// reserve hands out up to n free keys.
	reserve(ctx context.Context, n int) (reserved, error)
	// settle deletes them. It need not sync.
	settle(ctx context.Context, r reserved) error
	close() error
}

// reserved is the result of a reserve.
type reserved struct {
	leases []queue.Lease
	seqs   [][]byte
	bytes  int
}

func (r *reserved) len() int { return max(len(r.leases), len(r.seqs)) }

// kind is a kind of store.
type kind struct {
	name string
	open func(dir string) (store, error)
}

var (
	ours   = kind{"filequeue", openOurs}
	bolt   = kind{"bbolt", openBolt}
	pebbly = kind{"pebble", openPebble}
)

// inTurns returns a contestant for each kind of store.
func inTurns(do func(ctx context.Context, p *plan, dir string, k kind) ([]figure, error), kinds ...kind) (all []contestant) {
	for _, k := range kinds {
		all = append(all, contestant{Name: k.name, Measure: func(ctx context.Context, p *plan, dir string) ([]figure, error) {
			return do(ctx, p, dir, k)
		}})
	}
	return all
}

type fileQueue struct {
	q       *filequeue.Queue
	id      queue.ID
	mu      sync.Mutex
	callers map[int]*queue.Call
}

func openOurs(dir string) (store, error) {
	q, err := filequeue.Open(filepath.Join(dir, "queue"), nil)
	if err != nil {
		return nil, err
	}
	return &fileQueue{q: q, callers: map[int]*queue.Call{}}, nil
}

func (f *fileQueue) append(ctx context.Context, caller int, keys []string, body []byte) error {
	f.mu.Lock()
	c := f.callers[caller]
	if c == nil {
		c = &queue.Call{Adder: queue.NewID()}
		f.callers[caller] = c
	}
	f.mu.Unlock()
	c.Number++
	c.Records = c.Records[:0]
	for _, key := range keys {
		c.Records = append(c.Records, queue.Record{Key: key, Op: models.ActionTypeUpload, Body: body})
	}
	_, err := f.q.Append(ctx, *c)
	return err
}

func (f *fileQueue) reserve(ctx context.Context, n int) (r reserved, err error) {
	r.leases, err = f.q.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: queue.ID{1}, Keys: n, Bytes: 1 << 30, For: time.Minute})
	for i := range r.leases {
		r.bytes += len(r.leases[i].Records[0].Body)
	}
	return r, err
}

func (f *fileQueue) settle(ctx context.Context, r reserved) error {
	ends := make([]queue.End, len(r.leases))
	for i := range r.leases {
		ends[i] = queue.End{Lease: r.leases[i], Fate: queue.Commit}
	}
	stale, _, err := f.q.Settle(ctx, ends...)
	if len(stale) > 0 {
		err = errors.Join(err, errors.New("leases were stale"))
	}
	return err
}

func (f *fileQueue) close() error { return f.q.Close() }

// The other stores keep the documents by number, in order of arrival, and the number of each key's document: two
// entries per document, as folding needs. Leases are in memory.
func seqBytes(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// entry encodes a document: length of the key, key, body.
func entry(key string, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(key)+len(body)), uint16(len(key)))
	return append(append(b, key...), body...)
}

func keyOf(entry []byte) []byte { return entry[2 : 2+binary.BigEndian.Uint16(entry)] }

type boltQueue struct {
	db   *bbolt.DB
	next atomic.Uint64
	mu   sync.Mutex
	read []byte // last number that was handed out
}

var documents, numbers = []byte("documents"), []byte("numbers")

func openBolt(dir string) (store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	return &boltQueue{db: db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(documents)
		_, err2 := tx.CreateBucketIfNotExists(numbers)
		return errors.Join(err, err2)
	})
}

// append uses Batch for single documents, as bolt's documentation recommends for concurrent callers.
func (q *boltQueue) append(_ context.Context, _ int, keys []string, body []byte) error {
	do := q.db.Update
	if len(keys) == 1 {
		do = q.db.Batch
	}
	return do(func(tx *bbolt.Tx) error {
		docs, nums := tx.Bucket(documents), tx.Bucket(numbers)
		for _, key := range keys {
			if old := nums.Get([]byte(key)); old != nil {
				if err := docs.Delete(old); err != nil {
					return err
				}
			}
			seq := seqBytes(q.next.Add(1))
			if err := errors.Join(docs.Put(seq, entry(key, body)), nums.Put([]byte(key), seq)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *boltQueue) reserve(_ context.Context, n int) (r reserved, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return r, q.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(documents).Cursor()
		for seq, e := c.Seek(append(q.read, 0)); seq != nil && len(r.seqs) < n; seq, e = c.Next() {
			r.seqs = append(r.seqs, append([]byte(nil), seq...))
			r.bytes += len(append([]byte(nil), e...))
			q.read = r.seqs[len(r.seqs)-1]
		}
		return nil
	})
}

func (q *boltQueue) settle(_ context.Context, r reserved) error {
	return q.db.Update(func(tx *bbolt.Tx) error {
		docs, nums := tx.Bucket(documents), tx.Bucket(numbers)
		for _, seq := range r.seqs {
			if e := docs.Get(seq); e != nil {
				if err := errors.Join(nums.Delete(keyOf(e)), docs.Delete(seq)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (q *boltQueue) close() error { return q.db.Close() }

type pebbleQueue struct {
	db   *pebble.DB
	mu   sync.Mutex // guards the fields below and changes of a key
	next uint64
	read []byte
}

// quiet discards the log of pebble.
type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, _ ...any) { panic(f) }

func openPebble(dir string) (store, error) {
	db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
	return &pebbleQueue{db: db}, err
}

func (q *pebbleQueue) append(_ context.Context, _ int, keys []string, body []byte) error {
	b := q.db.NewBatch()
	q.mu.Lock()
	for _, key := range keys {
		name := append([]byte("n"), key...)
		if old, closer, err := q.db.Get(name); err == nil {
			err = errors.Join(b.Delete(append([]byte("d"), old...), nil), closer.Close())
			if err != nil {
				q.mu.Unlock()
				return err
			}
		}
		q.next++
		seq := seqBytes(q.next)
		if err := errors.Join(b.Set(append([]byte("d"), seq...), entry(key, body), nil), b.Set(name, seq, nil)); err != nil {
			q.mu.Unlock()
			return err
		}
	}
	q.mu.Unlock()
	return errors.Join(b.Commit(pebble.Sync), b.Close())
}

func (q *pebbleQueue) reserve(_ context.Context, n int) (r reserved, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it, err := q.db.NewIter(&pebble.IterOptions{LowerBound: append(append([]byte("d"), q.read...), 0), UpperBound: []byte("e")})
	if err != nil {
		return r, err
	}
	for ok := it.First(); ok && len(r.seqs) < n; ok = it.Next() {
		e, err := it.ValueAndErr()
		if err != nil {
			return r, errors.Join(err, it.Close())
		}
		r.seqs = append(r.seqs, append([]byte(nil), it.Key()[1:]...))
		r.bytes += len(append([]byte(nil), e...))
		q.read = r.seqs[len(r.seqs)-1]
	}
	return r, it.Close()
}

func (q *pebbleQueue) settle(_ context.Context, r reserved) error {
	b := q.db.NewBatch()
	for _, seq := range r.seqs {
		name := append([]byte("d"), seq...)
		e, closer, err := q.db.Get(name)
		if errors.Is(err, pebble.ErrNotFound) {
			continue
		}
		if err == nil {
			err = errors.Join(b.Delete(append([]byte("n"), keyOf(e)...), nil), b.Delete(name, nil), closer.Close())
		}
		if err != nil {
			return errors.Join(err, b.Close())
		}
	}
	return errors.Join(b.Commit(pebble.NoSync), b.Close())
}

func (q *pebbleQueue) close() error { return q.db.Close() }
