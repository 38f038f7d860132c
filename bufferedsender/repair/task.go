package repair

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// task is a page, or some keys, on its way through the steps.
type task struct {
	page
	tally
	at time.Time // when it was read, and then when it was last repaired

	mu      sync.Mutex // guards what follows
	err     error
	written []difference // to be verified
	surplus []string     // to be deleted, if the guard agrees
	// unsettled are keys that differ after all.
	unsettled []string
	unread    map[string]bool // what Lookup of the source has found, and Read has not
	counted   map[doing]bool  // what is in Repaired and Deleted
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

// unreadNow notes of which keys that Lookup has found Read returns no document.
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

// neverRead reports whether no document of any of them was read, and returns one.
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

// rejectedNow notes that the service has rejected what was written of a key.
func (t *task) rejectedNow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.written {
		if d.key == key {
			t.rejected[key] = rejection{markOf(d.source), time.Now()}
		}
	}
}

// rejectedSoFar returns a copy: an outcome may come late.
func (t *task) rejectedSoFar() map[string]rejection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.rejected)
}

// first reports whether it is asked about a key for the first time: a document that is repaired twice counts once.
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
