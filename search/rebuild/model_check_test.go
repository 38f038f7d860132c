package rebuild

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// wrong describes what is wrong with the version of a key in an index, given the confirmed one; "" means right.
func (m *model) wrong(key string, confirmed, got int64, there bool) string {
	m.w.mu.Lock()
	deleted := m.w.deleted[key]
	m.w.mu.Unlock()
	switch {
	case confirmed > 0 && there && got >= confirmed, confirmed > 0 && !there && deleted > confirmed:
	case confirmed < 0 && (!there || got > -confirmed):
	default:
		return fmt.Sprintf("%s was confirmed as %d, and found as %d (%v)", key, confirmed, got, there)
	}
	return ""
}

// checkReader checks that a reader finds the confirmed state of a key.
func (m *model) checkReader(key string) {
	m.w.mu.Lock()
	confirmed := m.w.confirmed[key]
	m.w.mu.Unlock()
	m.alias.Lock()
	target := m.target
	m.alias.Unlock()
	if target == otherIndex {
		return
	}
	doc, there := m.w.srv.Document(target, key)
	if wrong := m.wrong(key, confirmed, m.w.number(doc), there); wrong != "" {
		m.notes.Errorf("%v: just confirmed, by the alias in %s: %s", time.Now(), target, wrong)
	}
}

// checkRun checks the new index after Run has ended: it has everything that was confirmed, and everything in the old
// index, confirmed or not. Excepted are two cases: if the source shows a write only when the service applies it, it
// may be too late for a write whose writer no longer waits; and a Run that was stopped at its end may find that the
// next rebuild has already started.
func (m *model) checkRun(r Report) {
	m.operator.Lock()
	defer m.operator.Unlock()
	if x := m.w.record(); x.Step != StepMoved || x.New != r.Index {
		return
	}
	want := map[string]map[string]int64{"that was confirmed": m.confirmed()}
	if !m.plan.tight {
		want["in the old index, which is taken for confirmed"] = m.w.indexed(r.Old)
	}
	for what, all := range want {
		for key, n := range all {
			doc, there := m.w.srv.Document(r.Index, key)
			if wrong := m.wrong(key, n, m.w.number(doc), there); wrong != "" {
				m.notes.Errorf("%v: Run has ended, in %s of the documents %s: %s", time.Now(), r.Index, what, wrong)
			}
		}
	}
}

// checkReaders checks that all readers find what was confirmed, also those that still see the previous alias.
func (m *model) checkReaders() {
	m.w.mu.Lock()
	confirmed := maps.Clone(m.w.confirmed)
	m.w.mu.Unlock()
	m.alias.Lock()
	targets := []string{m.target}
	if record, err := m.w.store.Load(context.Background()); err == nil && time.Since(m.turned) < time.Second && record.Step != stepAborting && record.New == m.target {
		targets = append(targets, m.before)
	}
	m.alias.Unlock()
	for _, target := range targets {
		if target == otherIndex {
			continue
		}
		has := m.w.indexed(target)
		for key, n := range confirmed {
			got, there := has[key]
			if wrong := m.wrong(key, n, got, there); wrong != "" {
				m.notes.Errorf("%v: in %s of %v: %s", time.Now(), target, targets, wrong)
			}
		}
	}
}
