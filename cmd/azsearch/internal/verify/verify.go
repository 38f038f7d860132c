// Package verify compares all documents of two indexes, backups or files, in any order.
//
// It reads each side once, and computes a digest of all documents and of 1024 parts, which the hash of the key
// selects. If parts differ, it reads both sides again and keeps the keys of as many differing parts as fit in
// memory.
package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/digest"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// Side is one of two sets of documents to compare.
type Side interface {
	// Each calls yield with each document, possibly concurrently. The document is valid until yield returns.
	Each(ctx context.Context, yield func(document json.RawMessage) error) error
}

// Result is the result of a comparison.
type Result struct {
	A, B        digest.Sum
	Differences []Difference // the first ones by key, of the parts that were compared by key
}

// Equal reports whether both sides have the same documents.
func (r *Result) Equal() bool { return r.A == r.B }

// Difference is a key whose documents differ.
type Difference struct {
	Key, What string
}

const (
	parts     = 1024
	mostKeys  = 200_000 // approximate maximum number of keys in memory
	mostShown = 10
)

// Compare compares two sides. key is the name of the key field.
func Compare(ctx context.Context, a, b Side, key string) (*Result, error) {
	of, err := models.KeyFieldByName[json.RawMessage](key)
	if err != nil {
		return nil, err
	}
	sums := [2]*[parts]digest.Sum{}
	r := &Result{}
	for i, side := range []Side{a, b} {
		if sums[i], err = partSums(ctx, side, of); err != nil {
			return nil, err
		}
		for _, s := range sums[i] {
			[]*digest.Sum{&r.A, &r.B}[i].Add(s)
		}
	}
	var differ []int
	room := int64(mostKeys)
	for i := range parts {
		if sums[0][i] != sums[1][i] && (len(differ) == 0 || room > 0) {
			differ = append(differ, i)
			room -= sums[0][i].Documents + sums[1][i].Documents
		}
	}
	if differ == nil {
		return r, nil
	}
	r.Differences, err = differences(ctx, a, b, of, differ)
	return r, err
}

// Until calls Compare until the sides are equal, at most looks times, because queries show documents some time after
// they were accepted.
func Until(ctx context.Context, looks int, a, b Side, key string) (*Result, error) {
	for look := 1; ; look++ {
		r, err := Compare(ctx, a, b, key)
		if err != nil || r.Equal() || look >= looks {
			return r, err
		}
		if err := sleep.For(ctx, time.Duration(look)*time.Second); err != nil {
			return nil, err
		}
	}
}

// Sum returns the digest of one side.
func Sum(ctx context.Context, side Side) (sum digest.Sum, err error) {
	var mu sync.Mutex
	err = side.Each(ctx, func(document json.RawMessage) error {
		one, err := digest.Of(document)
		mu.Lock()
		defer mu.Unlock()
		sum.Add(one)
		return err
	})
	return sum, err
}

func partSums(ctx context.Context, side Side, of models.KeyField[json.RawMessage]) (*[parts]digest.Sum, error) {
	var mu sync.Mutex
	sums := &[parts]digest.Sum{}
	return sums, side.Each(ctx, func(document json.RawMessage) error {
		_, part, sum, err := digested(document, of)
		mu.Lock()
		defer mu.Unlock()
		sums[part].Add(sum)
		return err
	})
}

func digested(document json.RawMessage, of models.KeyField[json.RawMessage]) (key string, part int, sum digest.Sum, err error) {
	if key, err = of.Get(document); err != nil {
		return "", 0, sum, err
	}
	h := fnv.New32a()
	h.Write([]byte(key))
	sum, err = digest.Of(document)
	return key, int(h.Sum32() % parts), sum, err
}

// differences reads both sides for the keys in the parts in.
func differences(ctx context.Context, a, b Side, of models.KeyField[json.RawMessage], in []int) ([]Difference, error) {
	found := [2]map[string]digest.Sum{}
	for i, side := range []Side{a, b} {
		var mu sync.Mutex
		found[i] = map[string]digest.Sum{}
		if err := side.Each(ctx, func(document json.RawMessage) error {
			key, part, sum, err := digested(document, of)
			if _, is := slices.BinarySearch(in, part); err != nil || !is {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			sum.Add(found[i][key]) // a key may occur twice
			found[i][key] = sum
			return nil
		}); err != nil {
			return nil, err
		}
	}
	var all []Difference
	for key, sum := range found[0] {
		switch other, is := found[1][key]; {
		case !is:
			all = append(all, Difference{key, "only in the first"})
		case other.Documents != sum.Documents:
			all = append(all, Difference{key, fmt.Sprintf("%s in the first, %d in the second", amount.Of(sum.Documents, "time"), other.Documents)})
		case other != sum:
			all = append(all, Difference{key, "differs"})
		}
	}
	for key := range found[1] {
		if _, is := found[0][key]; !is {
			all = append(all, Difference{key, "only in the second"})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Compare(a.Key, b.Key) })
	return all[:min(len(all), mostShown)], nil
}
