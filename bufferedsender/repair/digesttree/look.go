package digesttree

import "github.com/go-azsearch/azsearch/models"

// Look is for whoever looks into the index for some keys and tells the tree what it has: what the tree is told of
// them since Look counts more. Close it at the end.
type Look struct {
	tree *Tree
	keys map[string]bool // whether something was told. The mutex of the tree guards it.
}

// Look begins. What the service has confirmed of the keys before must be in what is read later.
func (t *Tree) Look(keys ...string) *Look {
	l := &Look{t, make(map[string]bool, len(keys))}
	for _, key := range keys {
		l.keys[key] = false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looks = append(t.looks, l)
	return l
}

// Tell tells the tree what the index has of some of the keys: those without a row are not there. It returns of how
// many nothing else was told since Look.
func (l *Look) Tell(keys []string, rows []models.Row) (told int) {
	there := make(map[string]int64, len(rows))
	for _, r := range rows {
		there[r.Key] = r.Version
	}
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	for _, key := range keys {
		if newer, ok := l.keys[key]; !ok || newer {
			continue
		}
		version, ok := there[key]
		l.tree.record(key, version, !ok)
		l.keys[key] = false
		told++
	}
	return told
}

// Close ends it.
func (l *Look) Close() {
	t := l.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.looks {
		if t.looks[i] == l {
			t.looks[i] = t.looks[len(t.looks)-1]
			t.looks = t.looks[:len(t.looks)-1]
			return
		}
	}
}

// told takes note that something was told of a key. The caller has the lock of the tree.
func (l *Look) told(key string) {
	if _, ok := l.keys[key]; ok {
		l.keys[key] = true
	}
}
