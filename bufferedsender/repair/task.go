package repair

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// task is a page, or a set of keys, on its way through the steps.
type task struct {
	page
	tally
	at         time.Time // when it was read, later when it was last repaired
	overwrites int64     // that the guard has counted

	mu      sync.Mutex // guards the following
	err     error
	written []difference // to verify
	surplus []string     // to delete, if the guard agrees
	// unsettled are keys that differed after the last repair.
	unsettled []string
	left      []string        // keys that differ and were left alone
	unread    map[string]bool // keys that Lookup of the source finds and Read does not return
	counted   map[doing]bool  // keys counted in Repaired and Deleted
	rejected  map[string]rejection
}

func newTask(p page) *task {
	return &task{page: p, at: time.Now(), rejected: make(map[string]rejection)}
}

func (t *task) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *task) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *task) wrote(d difference) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written = append(t.written, d)
}

func (t *task) takeWritten() []difference {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.written
	t.written = nil
	return all
}

// unreadNow records the keys that Lookup found and Read did not return.
func (t *task) unreadNow(read []string, documents []models.RawAction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range read {
		if slices.ContainsFunc(documents, func(a models.RawAction) bool { return a.Key == key }) {
			delete(t.unread, key)
			continue
		}
		if t.unread == nil {
			t.unread = make(map[string]bool)
		}
		t.unread[key] = true
	}
}

// neverRead reports whether Read returned none of these keys, with one of them.
func (t *task) neverRead(all []difference) (key string, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range all {
		if !t.unread[d.key] {
			return "", false
		}
		key = d.key
	}
	return key, key != ""
}

func (t *task) surplusNow(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.surplus = append(t.surplus, keys...)
}

func (t *task) leftNow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = append(t.left, key)
}

// rejectedNow records that the service rejected what was written for a key.
func (t *task) rejectedNow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.written {
		if d.key == key {
			t.rejected[key] = rejection{markOf(d.source), time.Now()}
		}
	}
}

// rejectedSoFar returns a copy, because outcomes may still come.
func (t *task) rejectedSoFar() map[string]rejection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.rejected)
}

// first reports whether this is the first delete, or the first write, of a key: a document repaired twice counts once.
func (t *task) first(key string, deletes bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := doing{key, deletes}
	if t.counted[done] {
		return false
	}
	if t.counted == nil {
		t.counted = make(map[doing]bool)
	}
	t.counted[done] = true
	return true
}

type doing struct {
	key     string
	deletes bool
}

func (t *task) isRejected(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.rejected[key]
	return ok
}
