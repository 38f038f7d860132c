package relay

import (
	"cmp"
	"fmt"
)

const (
	// MaxLoad is how many keys a Loader is asked for at once.
	MaxLoad = 1000
	// halvings is how often a Loader can fail, each time for half as many keys, before the cause is the Loader and
	// not a key: MaxLoad keys are one key after ten.
	halvings = 12
)

// Loads decides for how many keys a Loader is asked. After an error it is asked for half of the keys, until the
// key that it fails for is alone and waits alone. While it fails for every key, all keys wait.
type Loads struct {
	Failures int // in a row

	most int   // keys, 0: MaxLoad
	size int64 // of a document, about
}

func (l *Loads) limit() int { return cmp.Or(l.most, MaxLoad) }

// Most is for how many keys to ask, at least one, where there is room for so many bytes.
func (l *Loads) Most(room int64) int {
	return int(min(int64(l.limit()), max(1, room/max(1, l.size))))
}

// Loaded notes that the Loader has answered for n keys with documents of so many bytes in all.
func (l *Loads) Loaded(n int, bytes int64) {
	l.most, l.Failures = min(2*l.limit(), MaxLoad), 0
	l.size = max(l.size/2, bytes/int64(n))
}

// Failed notes an error about n keys. down reports that the Loader fails whatever it is asked for.
func (l *Loads) Failed(n int) (down bool) {
	l.most = max(1, n/2)
	l.Failures++
	return l.Failures > halvings
}

// Answered checks the keys of what a Loader has returned: each was asked for, and comes once.
func Answered(asked, answered []string) error {
	open := make(map[string]bool, len(asked))
	for _, key := range asked {
		open[key] = true
	}
	for i, key := range answered {
		first, known := open[key]
		if !known {
			return fmt.Errorf("the Loader returned an action about the key %q, which was not asked for (action %d)", key, i)
		}
		if !first {
			return fmt.Errorf("the Loader returned two actions about the key %q", key)
		}
		open[key] = false
	}
	return nil
}
