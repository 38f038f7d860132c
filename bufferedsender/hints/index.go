package hints

// index is what is to be repaired of one index. It decides nothing about bounds and
// files; the mutex of the Set guards it.
type index struct {
	name    string
	keys    map[string]*taking // who has a key; nil: it waits in line
	line    line               // keys that wait, oldest first
	bytes   int64              // of the keys, in the file
	takings map[*taking]struct{}

	all   bool    // everything is to be compared
	allBy *taking // who has taken that; nil: it waits, and there are no keys
}

// taking is a batch that is neither done nor back.
type taking struct {
	set   *Set
	index *index
	keys  []string // those that it was made with
	left  int      // of these, how many it still has
	again map[string]struct{}
}

// cost is an upper bound of what a key takes in a snapshot.
func cost(key string) int64 { return int64(len(key)) + 8 }

// has reports whether there is anything.
func (x *index) has() bool { return x.all || len(x.keys) > 0 }

// wholeWaits reports whether the whole index is to be compared, and nobody has begun.
func (x *index) wholeWaits() bool { return x.all && x.allBy == nil }

// add adds a key that there is not.
func (x *index) add(key string) {
	if x.keys == nil {
		x.keys = make(map[string]*taking)
	}
	x.keys[key] = nil
	x.line.push(key)
	x.bytes += cost(key)
}

// remove removes a key that is not in line.
func (x *index) remove(key string) {
	delete(x.keys, key)
	x.bytes -= cost(key)
	if len(x.keys) == 0 {
		x.keys = nil // which gives the memory back
	}
}

// take moves the n oldest keys from the line to a new taking.
func (x *index) take(set *Set, n int) *taking {
	t := &taking{set: set, index: x, keys: x.line.pop(n), left: n}
	for _, key := range t.keys {
		x.keys[key] = t
	}
	if x.takings == nil {
		x.takings = make(map[*taking]struct{})
	}
	x.takings[t] = struct{}{}
	return t
}

// has reports whether a taking still has a key.
func (t *taking) has(key string) bool {
	by, ok := t.index.keys[key]
	return ok && by == t
}

// let takes note that a taking has one of its keys no more. again reports whether it was added meanwhile.
func (t *taking) let(key string) (again bool) {
	_, again = t.again[key]
	delete(t.again, key)
	if t.left--; t.left == 0 {
		delete(t.index.takings, t)
	}
	return again
}

// wait puts a key that was taken at the end of the line.
func (x *index) wait(key string) {
	x.keys[key] = nil
	x.line.push(key)
}

// drop removes all keys. Those that have taken any have none any more.
func (x *index) drop() {
	x.keys, x.line, x.bytes, x.takings = nil, line{}, 0, nil
}

// snapshot returns all keys, oldest first: those that are taken were in front. It takes no longer for more
// keys in line, or hardly: Add waits for it.
func (x *index) snapshot() [][]string {
	var taken []string
	for t := range x.takings {
		for _, key := range t.keys {
			if t.has(key) {
				taken = append(taken, key)
			}
		}
	}
	return append([][]string{taken}, x.line.snapshot()...)
}
