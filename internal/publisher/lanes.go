package publisher

import "hash/maphash"

// lanes finds the last unsettled action of each key. It is a hash table with open addressing whose slots hold the hash
// and the node with the key. A map would make a document cost a sixth more with a full buffer, because it would read
// keys that are not in a cache.
type lanes struct {
	slots []lane // its length is a power of two; at most three quarters are used
	count int
}

// lane is a slot, empty if the hash is 0.
type lane struct {
	hash uint32
	tail ref
}

func newLanes() lanes { return lanes{slots: make([]lane, 16)} }

var seed = maphash.MakeSeed()

// hashKey computes the hash for the lanes. The caller of Add does this outside the lock.
func (it *Item[V]) hashKey() {
	h := maphash.String(seed, it.Key)
	it.hash = uint32(h^h>>32) | 1
}

// find returns the index of the slot of a key, or of the empty slot where it belongs.
func (p *pending[V]) find(hash uint32, key string) int {
	slots := p.lanes.slots
	mask := len(slots) - 1
	i := int(hash>>1) & mask
	for slots[i].hash != 0 && (slots[i].hash != hash || p.at(slots[i].tail).item.Key != key) {
		i = (i + 1) & mask
	}
	return i
}

// tail returns the last unsettled action of a key.
func (p *pending[V]) tail(it *Item[V]) (ref, bool) {
	if it.hash == 0 {
		it.hashKey()
	}
	s := p.lanes.slots[p.find(it.hash, it.Key)]
	return s.tail, s.hash != 0
}

// append makes r, which is in no lane yet, the last one of its key, and returns the previous last one.
func (p *pending[V]) append(r ref) (tail ref, busy bool) {
	it := &p.at(r).item
	if it.hash == 0 {
		it.hashKey()
	}
	s := &p.lanes.slots[p.find(it.hash, it.Key)]
	if s.hash != 0 {
		tail, s.tail = s.tail, r
		return tail, true
	}
	*s = lane{it.hash, r}
	if p.lanes.count++; p.lanes.count*4 > len(p.lanes.slots)*3 {
		p.lanes.grow()
	}
	return none, false
}

// end removes the lane of an action that is the only one of its key.
func (p *pending[V]) end(r ref) {
	it := &p.at(r).item
	p.lanes.remove(p.find(it.hash, it.Key))
}

// remove empties a slot and moves up the entries that had to skip it.
func (l *lanes) remove(i int) {
	mask := len(l.slots) - 1
	for next := (i + 1) & mask; l.slots[next].hash != 0; next = (next + 1) & mask {
		home := int(l.slots[next].hash>>1) & mask
		if (next-home)&mask >= (next-i)&mask {
			l.slots[i] = l.slots[next]
			i = next
		}
	}
	l.slots[i] = lane{}
	l.count--
}

func (l *lanes) grow() {
	old := l.slots
	l.slots = make([]lane, 2*len(old))
	mask := len(l.slots) - 1
	for _, s := range old {
		if s.hash == 0 {
			continue
		}
		i := int(s.hash>>1) & mask
		for l.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		l.slots[i] = s
	}
}
