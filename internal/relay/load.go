package relay

import (
	"cmp"
	"fmt"
)

const (
	// MaxLoad is the maximum number of keys passed to a Loader at once.
	MaxLoad = 1000
	// halvings is the number of failures in a row, each with half as many keys, after which the cause must be the
	// Loader and not a key: ten halvings reduce MaxLoad keys to one.
	halvings = 12
)

// Loads decides how many keys to pass to a Loader. After an error it passes half as many, until a key for which the
// Loader fails is alone, and waits alone. While the Loader fails for every key, all keys wait.
type Loads struct {
	Failures int // in a row

	most int   // keys, 0: MaxLoad
	size int64 // average size of a document
}

func (l *Loads) limit() int { return cmp.Or(l.most, MaxLoad) }

// Most returns how many keys to load, at least one, if there is room for this many bytes.
func (l *Loads) Most(room int64) int {
	return int(min(int64(l.limit()), max(1, room/max(1, l.size))))
}

// Loaded records that the Loader has returned documents for n keys with this many bytes in total.
func (l *Loads) Loaded(n int, bytes int64) {
	l.most, l.Failures = min(2*l.limit(), MaxLoad), 0
	l.size = max(l.size/2, bytes/int64(n))
}

// Failed records an error for n keys. down reports that the Loader fails for all keys.
func (l *Loads) Failed(n int) (down bool) {
	l.most = max(1, n/2)
	l.Failures++
	return l.Failures > halvings
}

// Answered checks that each key returned by a Loader was asked for, and comes once.
func Answered(asked, answered []string) error {
	open := make(map[string]bool, len(asked))
	for _, key := range asked {
		open[key] = true
	}
	for i, key := range answered {
		first, known := open[key]
		if !known {
			return fmt.Errorf("the Loader returned an action for key %q, which was not requested (action %d)", key, i)
		}
		if !first {
			return fmt.Errorf("the Loader returned two actions for key %q", key)
		}
		open[key] = false
	}
	return nil
}
