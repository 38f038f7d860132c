package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

const (
	// perScript bounds the keys of one script, and rounds the rounds it removes them from, because the server does nothing
	// else meanwhile.
	perScript      = 1000
	rounds         = 10
	replicaTimeout = 5 * time.Second // the default
	patience       = 10 * time.Second
)

// Options configures New.
type Options struct {
	// Name identifies what is rebuilt: all stores with this name on a server share a record. The name of the alias is a
	// good choice. Letters, digits and -_.: are allowed, up to 128. Required.
	Name string
	// Replicas is how many replicas must have each write before a call returns nil: Load, Swap, Mark and Marked wait for
	// them by WAIT. If fewer answer within five seconds these calls return an error and writers send nothing, so run one
	// more replica. Defaults to none.
	Replicas       int
	replicaTimeout time.Duration // how long a call waits for replicas, 0 for 5 s; tests change it
	patience       time.Duration // how long a call is retried during a failover or while a slot moves; 0 for 10 s; tests change it
}

// Store is a rebuild.Store on a Redis server or a Redis Cluster. It is safe for concurrent use by any number of
// processes, and does not close the client.
//
// Its methods block until the server has answered or ctx ends. If the server cannot be reached they retry for ten
// seconds. Waits for replicas end after five seconds.
type Store struct {
	client redis.UniversalClient
	opts   Options
	keys   []string // the record, the marks, the writers
}

var _ rebuild.Store = (*Store)(nil)

var names = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// New returns a store on the server or cluster of client. It sends no request; see Check. The client must have
// ContextTimeoutEnabled, because calls would outlast their ctx otherwise. The error names every invalid option.
func New(client redis.UniversalClient, opts Options) (*Store, error) {
	bounded, err := rediskit.CheckClient(client)
	errs := []error{err}
	if !bounded {
		errs = append(errs, errors.New("the client has no ContextTimeoutEnabled: set it, or calls outlast their ctx"))
	}
	if opts.Name == "" {
		errs = append(errs, errors.New("Options.Name is empty: set it, for example to the name of the alias"))
	} else if !names.MatchString(opts.Name) {
		errs = append(errs, fmt.Errorf("Options.Name is %q: use letters, digits and -_.: only, up to 128", opts.Name))
	}
	if opts.Replicas < 0 {
		errs = append(errs, fmt.Errorf("Options.Replicas is %d: use 0 for none", opts.Replicas))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	opts.replicaTimeout, opts.patience = cmp.Or(opts.replicaTimeout, replicaTimeout), cmp.Or(opts.patience, patience)
	s := &Store{client: client, opts: opts}
	for _, kind := range []string{"record", "marks", "writers"} {
		// Redis Cluster hashes the text in braces, so all keys are in one slot.
		s.keys = append(s.keys, "{azrebuild:"+opts.Name+"}:"+kind)
	}
	return s, nil
}

// ordered returns a round as text whose byte order is the numeric order. A member of the set of marks is this text and
// the key. So each pair of round and key has its own mark, and marks of lower rounds come first.
func ordered(round int64) string { return fmt.Sprintf("%016x", uint64(round)^1<<63) }

// upTo returns the upper bound of the marks of rounds up to last.
func upTo(last int64) string {
	if last == math.MaxInt64 {
		return "+"
	}
	return "(" + ordered(last+1)
}

// written returns the argument by which reading scripts also write, for WAIT.
func (s *Store) written() string {
	if s.opts.Replicas > 0 {
		return "1"
	}
	return "0"
}

// Load implements rebuild.Store. A lost record counts as none: see the package documentation.
func (s *Store) Load(ctx context.Context) (rebuild.Record, error) {
	answer, err := s.run(ctx, loadScript, s.opts.Replicas, s.written())
	if err != nil {
		return rebuild.Record{}, fmt.Errorf("redisstore: reading the record: %w", err)
	}
	if answer == nil {
		return rebuild.Record{}, nil
	}
	list := rediskit.Read(answer)
	version, body := list.Int(), list.Text()
	var r rebuild.Record
	if err = list.End(); err == nil {
		err = json.Unmarshal([]byte(body), &r)
	}
	if err != nil {
		return rebuild.Record{}, fmt.Errorf("redisstore: the record is malformed: %w", err)
	}
	r.Version = version
	return r, nil
}

// Swap implements rebuild.Store. The version of a first record is the server's time in microseconds, so that a record
// created after a loss is newer than the lost one.
func (s *Store) Swap(ctx context.Context, next rebuild.Record) (rebuild.Record, error) {
	body, err := json.Marshal(next)
	if err != nil {
		return rebuild.Record{}, fmt.Errorf("redisstore: %w", err)
	}
	answer, err := s.run(ctx, swapScript, s.opts.Replicas,
		strconv.FormatInt(next.Version, 10), strconv.FormatInt(next.Version+1, 10), rand.Text(), string(body),
		strconv.FormatInt(next.Epoch, 10), ordered(next.Round), string(next.Phase))
	if err != nil {
		return rebuild.Record{}, fmt.Errorf("redisstore: changing the record: %w", err)
	}
	if answer == nil {
		return rebuild.Record{}, rebuild.ErrChanged
	}
	text, err := rediskit.Text(answer)
	if err == nil {
		next.Version, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return rebuild.Record{}, fmt.Errorf("redisstore: changing the record: %w", rediskit.ErrAnswer)
	}
	return next, nil
}

// Mark implements rebuild.Store. Each thousand keys are one script, which is atomic with the record. The round returned
// is the highest one of all scripts, so a caller that waits for it waits for all. Marks of a call that fails half-way
// are harmless, because a mark only makes Run read a key again.
func (s *Store) Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error) {
	for first, some := range chunks(keys) {
		args := append(make([]any, 0, len(some)+1), strconv.FormatInt(epoch, 10))
		for _, key := range some {
			args = append(args, key)
		}
		answer, err := s.run(ctx, markScript, s.opts.Replicas, args...)
		if err != nil {
			return 0, fmt.Errorf("redisstore: marking keys: %w", err)
		}
		if answer == nil {
			return 0, rebuild.ErrStale
		}
		text, err := rediskit.Text(answer)
		if err != nil {
			return 0, fmt.Errorf("redisstore: marking keys: %w", err)
		}
		n, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return 0, fmt.Errorf("redisstore: marking keys: %w", rediskit.ErrAnswer)
		}
		if in := int64(n ^ 1<<63); first || in > round {
			round = in
		}
	}
	return round, nil
}

// Marked implements rebuild.Store. Each request to the server returns at most a thousand marks.
func (s *Store) Marked(ctx context.Context, last int64, limit int) (keys []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seen := map[string]struct{}{}
	for from := "-"; len(keys) < limit; {
		most := min(limit-len(keys), perScript)
		answer, err := s.run(ctx, markedScript, s.opts.Replicas, from, upTo(last), most, s.written())
		if err != nil {
			return nil, fmt.Errorf("redisstore: reading marks: %w", err)
		}
		n, members := 0, rediskit.Read(answer)
		for ; members.More(); n++ {
			member := members.Text()
			if len(member) <= 16 {
				members.Fail(rediskit.ErrAnswer)
				break
			}
			key := member[16:]
			if _, ok := seen[key]; !ok { // a key may be marked in several rounds
				seen[key] = struct{}{}
				keys = append(keys, key)
			}
			from = "(" + member
		}
		if members.Err != nil {
			return nil, fmt.Errorf("redisstore: reading marks: %w", members.Err)
		}
		if n < most {
			break
		}
	}
	return keys, nil
}

// Unmark implements rebuild.Store. It does not wait for replicas, because a mark that comes back is harmless.
func (s *Store) Unmark(ctx context.Context, last int64, keys []string) error {
	if len(keys) == 0 {
		return ctx.Err()
	}
	for _, some := range chunks(keys) {
		for from := "-"; from != ""; {
			args := append(make([]any, 0, len(some)+3), from, upTo(last), rounds)
			for _, key := range some {
				args = append(args, key)
			}
			answer, err := s.run(ctx, unmarkScript, 0, args...)
			if err == nil {
				from, err = rediskit.Text(answer)
			}
			if err != nil {
				return fmt.Errorf("redisstore: removing marks: %w", err)
			}
		}
	}
	return nil
}

// chunks yields keys in slices for one script each, and whether a slice is the first. Without keys it yields one empty
// slice.
func chunks(keys []string) func(yield func(bool, []string) bool) {
	return func(yield func(bool, []string) bool) {
		if len(keys) == 0 {
			yield(true, nil)
		}
		for i := 0; i < len(keys); i += perScript {
			if !yield(i == 0, keys[i:min(i+perScript, len(keys))]) {
				return
			}
		}
	}
}

// Register implements rebuild.Store. It does not wait for replicas: without an expected writer Run refuses to begin.
func (s *Store) Register(ctx context.Context, writer string, seen time.Time) error {
	if _, err := s.run(ctx, registerScript, 0, writer, seen.UnixMilli()); err != nil {
		return fmt.Errorf("redisstore: registering the writer %q: %w", writer, err)
	}
	return nil
}

// Writers implements rebuild.Store.
func (s *Store) Writers(ctx context.Context) (all []rebuild.Writer, err error) {
	for cursor := "0"; ; {
		answer, err := s.run(ctx, writersScript, 0, cursor)
		if err != nil {
			return nil, fmt.Errorf("redisstore: reading the writers: %w", err)
		}
		parts := rediskit.Read(answer)
		cursor = parts.Text()
		writers := parts.List()
		for writers.More() {
			all = append(all, rebuild.Writer{Name: writers.Text(), Seen: time.UnixMilli(writers.Int())})
		}
		if err := errors.Join(parts.End(), writers.Err); err != nil {
			return nil, fmt.Errorf("redisstore: reading the writers: %w", err)
		}
		if cursor == "0" {
			break
		}
	}
	slices.SortFunc(all, func(a, b rebuild.Writer) int { return strings.Compare(a.Name, b.Name) })
	// HSCAN may return an entry twice while the server rehashes.
	return slices.CompactFunc(all, func(a, b rebuild.Writer) bool { return a.Name == b.Name }), nil
}
