package query

import (
	"maps"
	"slices"
)

// keyOrder is the sorted list of keys of a view, for walks through an index by key, page by page. Each page begins
// after the end of the previous one and reads no documents before it. The first page builds the list.
type keyOrder struct {
	all    []string // sorted, may contain deleted keys; nil until it is built
	recent []string // sorted, added after all was built, so that a few new keys do not copy all
	more   []string // added after recent was sorted, in no order
}

// add adds a key that is new or was deleted. If new keys exceed the list by 1000, the whole list is dropped, because
// another walk may never come; the next walk would build it again.
func (k *keyOrder) add(key string) (dropped bool) {
	if k.all == nil {
		return false
	}
	if k.more = append(k.more, key); len(k.more) <= len(k.all)+1000 {
		return false
	}
	*k = keyOrder{}
	return true
}

// needKeys builds or updates the keys. v.mu must be held for writing.
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

// mergeKeys merges two sorted lists without duplicates.
func mergeKeys(a, b []string) []string {
	merged := make([]string, 0, len(a)+len(b))
	eachMerged(a, b, func(key string) bool {
		merged = append(merged, key)
		return true
	})
	return merged
}

// eachMerged calls f for each distinct key of two sorted lists in order, until f returns false.
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

// from calls f for each document in the order of the keys, starting at key, until f returns false.
func (v *View) from(key string, f func(id uint32, data []byte) bool) {
	i, _ := slices.BinarySearch(v.keys.all, key)
	j, _ := slices.BinarySearch(v.keys.recent, key)
	eachMerged(v.keys.all[i:], v.keys.recent[j:], func(key string) bool {
		id, there := v.byKey[key]
		return !there || f(id, v.document(id))
	})
}

// of calls f for each document with one of the keys, in the order of the ids. keys may be unsorted and contain
// duplicates.
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
