package analysis

import (
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// snowball returns a function that runs a Snowball stemmer.
func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(text string) string {
		env := snowballstem.NewEnv(text)
		stem(env)
		return env.Current()
	}
}

// foldASCII replaces characters that resemble ASCII characters, such as those with accents, by ASCII.
func foldASCII(text string) string {
	if isASCII(text) {
		return text
	}
	return languages.FoldASCII(text)
}

func isASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

const (
	maxRemembered     = 1 << 14 // words per stemmer
	maxRememberedWord = 48      // in bytes
)

// remembered caches the results of f, because texts repeat words, and stemmers are slower than a map. The cache has
// at most maxRemembered words; further words are computed each time.
func remembered(f func(string) string) func(string) string {
	var mu sync.RWMutex
	known := map[string]string{} // written under mu
	return func(text string) string {
		mu.RLock()
		out, ok := known[text]
		full := len(known) >= maxRemembered
		mu.RUnlock()
		if ok {
			return out
		}
		out = f(text)
		if full || len(text) > maxRememberedWord {
			return out
		}
		key := strings.Clone(text) // otherwise it would keep the whole document in memory
		if out == key {
			out = key
		}
		mu.Lock()
		known[key] = out
		mu.Unlock()
		return out
	}
}
