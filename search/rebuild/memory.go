package rebuild

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store in memory, for tests, and for a single process whose rebuild need not survive it. It is safe for
// concurrent use.
type Memory struct {
	mu      sync.Mutex
	record  Record
	marks   map[int64]*marks // by round; few at a time, because a round is drained before the next begins
	writers map[string]time.Time
}

// marks are the keys marked in one round. A key marked in two rounds needs two marks: with only the later one, a writer
// that waits for the earlier round would continue too soon.
type marks struct {
	has   map[string]struct{}
	order []string // keys of has, and removed ones
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{marks: map[int64]*marks{}, writers: map[string]time.Time{}}
}

// Load implements Store.
func (m *Memory) Load(ctx context.Context) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record
	r.Dropped = maps.Clone(r.Dropped)
	return r, ctx.Err()
}

// Swap implements Store.
func (m *Memory) Swap(ctx context.Context, next Record) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record.Version != next.Version {
		return Record{}, ErrChanged
	}
	next.Version++
	m.record = next
	m.record.Dropped = maps.Clone(next.Dropped)
	return next, nil
}

// Mark implements Store.
func (m *Memory) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record.Epoch != epoch || !m.record.Phase.marks() {
		return 0, ErrStale
	}
	of := m.marks[m.record.Round]
	if of == nil {
		of = &marks{has: map[string]struct{}{}}
		m.marks[m.record.Round] = of
	}
	for _, key := range keys {
		if _, ok := of.has[key]; !ok {
			key = strings.Clone(key)
			of.has[key], of.order = struct{}{}, append(of.order, key)
		}
	}
	return m.record.Round, nil
}

// Marked implements Store.
func (m *Memory) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := map[string]struct{}{}
	for round, of := range m.marks {
		if round > last {
			continue
		}
		for _, key := range of.order {
			if len(keys) >= limit {
				break
			}
			if _, ok := of.has[key]; ok {
				keys[key] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(keys)), ctx.Err()
}

// Unmark implements Store.
func (m *Memory) Unmark(ctx context.Context, last int64, keys []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for round, of := range m.marks {
		if round > last {
			continue
		}
		for _, key := range keys {
			delete(of.has, key)
		}
		n := 0 // removed keys at the front need not be passed again
		for ; n < len(of.order); n++ {
			if _, ok := of.has[of.order[n]]; ok {
				break
			}
		}
		if of.order = of.order[n:]; n > 0 && len(of.order) == 0 {
			delete(m.marks, round)
		}
	}
	return nil
}

// Register implements Store.
func (m *Memory) Register(ctx context.Context, writer string, seen time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writers[writer] = seen
	return nil
}

// Writers implements Store.
func (m *Memory) Writers(ctx context.Context) (all []Writer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.writers)) {
		all = append(all, Writer{Name: name, Seen: m.writers[name]})
	}
	return all, ctx.Err()
}
