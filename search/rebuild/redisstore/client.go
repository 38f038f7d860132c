package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// run runs a script until it has an answer, the patience of the options or ctx ends. Every script may be run
// twice. nil is the answer nil.
func (s *Store) run(ctx context.Context, script *redis.Script, replicas int, args ...any) (answer any, err error) {
	r := rediskit.Runner{Client: s.client, Patience: s.opts.patience, Replicas: replicas, ReplicaTimeout: s.opts.replicaTimeout}
	answer, _, err = r.Run(ctx, script, s.keys, args...) // an error never says that nothing was done
	return answer, meaning(err)
}

// meaning says what the refusals of the server mean.
func meaning(err error) error {
	switch code, rest := rediskit.Refusal(err); code {
	case "AZRLOST":
		return fmt.Errorf("marks in %q were deleted or evicted; call Abort and start over: the new index would lack documents", rest)
	case "WRONGTYPE":
		return fmt.Errorf("another program overwrote a key of the store: %w", err)
	}
	return rediskit.Explain(err)
}

// Check reads the settings of the server, of a cluster those of all masters, and returns an error that names
// everything by which a mark could be lost: a version before 7.0, a replica in the place of a master, a
// maxmemory-policy that evicts keys without an expiry, appendonly no, fewer replicas than Options.Replicas, a client
// that does not reach them. What a server does not tell is not judged, and appendfsync and what fails over are not
// either: see the package's documentation. Call it once, where a program begins. It changes nothing.
func (s *Store) Check(ctx context.Context) error {
	masters, err := rediskit.Examine(ctx, s.client)
	if err == nil && s.opts.Replicas > 0 {
		err = rediskit.CheckWait(s.client, masters)
	}
	if err = errors.Join(err, rediskit.Judge(masters, s.judge)); err != nil {
		return fmt.Errorf("redisstore: %w", err)
	}
	return nil
}

// judge is Check of one server.
func (s *Store) judge(server *rediskit.Server) error {
	errs := []error{server.Old(), server.Loses()}
	if server.AOF == "0" {
		errs = append(errs, errors.New("appendonly is no: a server that restarts has lost marks; use appendonly yes"))
	}
	if n, err := strconv.Atoi(server.Replicas); err == nil && n < s.opts.Replicas {
		errs = append(errs, fmt.Errorf("%d replicas are connected, and Options.Replicas is %d", n, s.opts.Replicas))
	}
	return errors.Join(errs...)
}
