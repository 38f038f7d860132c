package rebuild

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store in memory: for tests, and for programs that are one process and whose
// rebuild need not survive it. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	record  Record
	marks   map[mark]struct{}
	writers map[string]time.Time
}

// mark is a key that was marked in a round. One mark of a key in a later round does not do for
// both: who waits for the earlier round would be answered too soon.
type mark struct {
	round int64
	key   string
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{marks: map[mark]struct{}{}, writers: map[string]time.Time{}}
}

// Load implements Store.
func (m *Memory) Load(ctx context.Context) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record, ctx.Err()
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
	for _, key := range keys {
		m.marks[mark{m.record.Round, strings.Clone(key)}] = struct{}{}
	}
	return m.record.Round, nil
}

// Marked implements Store.
func (m *Memory) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := map[string]struct{}{}
	for x := range m.marks {
		if len(keys) == limit {
			break
		}
		if x.round <= last {
			keys[x.key] = struct{}{}
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
	of := make(map[string]struct{}, len(keys))
	for _, key := range keys {
		of[key] = struct{}{}
	}
	maps.DeleteFunc(m.marks, func(x mark, _ struct{}) bool {
		_, ok := of[x.key]
		return ok && x.round <= last
	})
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
