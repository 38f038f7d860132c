package analysis

import (
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// snowball makes a function of a Snowball stemmer.
func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(text string) string {
		env := snowballstem.NewEnv(text)
		stem(env)
		return env.Current()
	}
}

// foldASCII turns letters with accents, and other characters that resemble ASCII
// ones, into those.
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
	maxRememberedWord = 48      // bytes
)

// remembered keeps what f made of words: texts repeat them, and stemmers cost
// more than a look into a map. The number of words is bounded; when it is
// reached, new ones are computed each time.
func remembered(f func(string) string) func(string) string {
	var mu sync.RWMutex
	known := map[string]string{} // written by whoever meets a new word, under mu
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
		key := strings.Clone(text) // not the document that it is a part of
		if out == key {
			out = key
		}
		mu.Lock()
		known[key] = out
		mu.Unlock()
		return out
	}
}
