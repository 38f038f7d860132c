package query

import (
	"maps"
	"slices"
)

// keyOrder has the keys of a view in order, for walks that go through an index by its keys, a page after another:
// each page begins where the one before has ended, and looks at no document before it. It is made by the first page.
type keyOrder struct {
	all    []string // among them some that are gone; nil until it is made
	recent []string // came since all was made, in order too, so that few keys do not have all of them copied
	more   []string // came since recent was made, in no order
}

// add takes in a key that is new, or was gone. There may never be another walk: so many keys that it would be as much
// work to add them are not kept, and nor is the order, which the next walk makes anew.
func (k *keyOrder) add(key string) {
	if k.all == nil {
		return
	}
	if k.more = append(k.more, key); len(k.more) > len(k.all)+1000 {
		*k = keyOrder{}
	}
}

// needKeys makes the keys, or brings them up to date. v.mu must be held for writing.
func (v *View) needKeys() {
	k := &v.keys
	if k.all == nil || len(k.all)+len(k.recent)+len(k.more) > 2*len(v.byKey)+1000 {
		*k = keyOrder{all: slices.AppendSeq(make([]string, 0, len(v.byKey)), maps.Keys(v.byKey))}
		slices.Sort(k.all)
		return
	}
	if len(k.more) > 0 {
		slices.Sort(k.more)
		k.recent, k.more = mergeKeys(k.recent, k.more), nil
	}
	if len(k.recent) > 1000+len(k.all)/50 {
		k.all, k.recent = mergeKeys(k.all, k.recent), nil
	}
}

// mergeKeys merges two sorted lists. A key that is in both, or twice in one, is in the result once.
func mergeKeys(a, b []string) []string {
	merged := make([]string, 0, len(a)+len(b))
	eachMerged(a, b, func(key string) bool {
		merged = append(merged, key)
		return true
	})
	return merged
}

// eachMerged calls f for each key of two sorted lists in order, once for those that are in both, or twice in one,
// until it returns false.
func eachMerged(a, b []string, f func(key string) bool) {
	last, any := "", false
	for len(a) > 0 || len(b) > 0 {
		var key string
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			key, a = a[0], a[1:]
		} else {
			key, b = b[0], b[1:]
		}
		if any && key == last {
			continue
		}
		if last, any = key, true; !f(key) {
			return
		}
	}
}

// from calls f for each document from a key on, in the order of the keys, until it returns false.
func (v *View) from(key string, f func(id uint32, data []byte) bool) {
	i, _ := slices.BinarySearch(v.keys.all, key)
	j, _ := slices.BinarySearch(v.keys.recent, key)
	eachMerged(v.keys.all[i:], v.keys.recent[j:], func(key string) bool {
		id, there := v.byKey[key]
		return !there || f(id, v.document(id))
	})
}

// of calls f for each document that has one of the keys, in the order of the ids. The keys are in no order, and may
// be there twice.
func (v *View) of(keys []string, f func(id uint32, data []byte)) {
	var ids []uint32
	for _, key := range keys {
		if id, there := v.byKey[key]; there {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		f(id, v.document(id))
	}
}
