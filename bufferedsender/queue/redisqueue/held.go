package redisqueue

import (
	"maps"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// held tracks the reservations of this object's holders, because a single shard cannot know two things: whether a
// holder that will get a suspect alone has leases of other shards, and which reservations are repeats.
type held struct {
	mu       sync.Mutex
	many     bool // there is more than one shard
	tokens   map[queue.ID]*hold
	recent   map[queue.ID]map[int]int // scripts tried for a token, by shard
	order    []queue.ID               // of recent, a ring buffer
	next     int
	draining map[queue.ID]int // the shard from which a holder has, or will get, a suspect alone
}

// hold is one reservation.
type hold struct {
	holder queue.ID
	until  time.Time
	keys   map[int]int // leases by shard
}

const remembered = 4096

func (h *held) init(shards int) {
	h.many = shards > 1
	h.tokens, h.recent, h.draining = map[queue.ID]*hold{}, map[queue.ID]map[int]int{}, map[queue.ID]int{}
}

// repeated reports whether a token was used before, and which scripts were tried for it.
func (h *held) repeated(token queue.ID) (map[int]int, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if tried, ok := h.recent[token]; ok {
		return maps.Clone(tried), true
	}
	if len(h.order) < remembered {
		h.order = append(h.order, token)
	} else {
		delete(h.recent, h.order[h.next])
		h.order[h.next] = token
		h.next = (h.next + 1) % remembered
	}
	h.recent[token] = map[int]int{}
	return nil, false
}

// tried replaces the scripts recorded for a token.
func (h *held) tried(token queue.ID, scripts map[int]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent[token] != nil {
		again := map[int]int{}
		maps.Copy(again, scripts)
		h.recent[token] = again
	}
}

func (h *held) tries(token queue.ID, shard int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if tried := h.recent[token]; tried != nil {
		tried[shard]++
	}
}

// first returns the shard that a holder asks first, and whether the reason is a suspect that goes alone. That may be
// outdated, because another object may have settled it; only the shard knows.
func (h *held) first(holder queue.ID, home int) (shard int, draining bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.draining[holder]; ok {
		return s, true
	}
	return home, false
}

// elsewhere returns how many leases a holder has in other shards.
func (h *held) elsewhere(holder queue.ID, shard int, now time.Time) (n int) {
	if !h.many {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(now)
	for _, t := range h.tokens {
		if t.holder == holder {
			for s, k := range t.keys {
				if s != shard {
					n += k
				}
			}
		}
	}
	return n
}

// has reports whether a holder has leases in a shard.
func (h *held) has(holder queue.ID, shard int, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(now)
	for _, t := range h.tokens {
		if t.holder == holder && t.keys[shard] > 0 {
			return true
		}
	}
	return false
}

func (h *held) drain(holder queue.ID, shard int, on bool) {
	if !h.many {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if on {
		h.draining[holder] = shard
	} else if s, ok := h.draining[holder]; ok && s == shard {
		delete(h.draining, holder)
	}
}

func (h *held) leased(want *queue.Want, shard, n int, now time.Time) {
	if !h.many || n == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tokens[want.Token]
	if t == nil {
		t = &hold{holder: want.Holder, until: now.Add(want.For), keys: map[int]int{}}
		h.tokens[want.Token] = t
	}
	t.keys[shard] = n
}

// ended records the end of a lease.
func (h *held) ended(token queue.ID, shard int) {
	if !h.many {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tokens[token]; t != nil {
		if t.keys[shard]--; t.keys[shard] <= 0 {
			delete(t.keys, shard)
		}
		if len(t.keys) == 0 {
			delete(h.tokens, token)
		}
	}
}

func (h *held) extended(token queue.ID, until time.Time) {
	if !h.many {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tokens[token]; t != nil && until.After(t.until) {
		t.until = until
	}
}

// expire removes reservations that have run out; mu is held.
func (h *held) expire(now time.Time) {
	for id, t := range h.tokens {
		if !t.until.After(now) {
			delete(h.tokens, id)
		}
	}
}
