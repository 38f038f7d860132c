package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// run executes a script until it has an answer, the patience of the options is over, or ctx ends. Every script may be
// executed twice. A nil answer is returned as nil.
func (s *Store) run(ctx context.Context, script *redis.Script, replicas int, args ...any) (answer any, err error) {
	r := rediskit.Runner{Client: s.client, Patience: s.opts.patience, Replicas: replicas, ReplicaTimeout: s.opts.replicaTimeout}
	answer, _, err = r.Run(ctx, script, s.keys, args...) // after any error the script may have taken effect
	return answer, meaning(err)
}

// meaning explains the errors of the scripts.
func meaning(err error) error {
	switch code, rest := rediskit.Refusal(err); code {
	case "AZRLOST":
		return fmt.Errorf("marks in %q were deleted or evicted; call Abort and start over: the new index would lack documents", rest)
	case "WRONGTYPE":
		return fmt.Errorf("another program overwrote a key of the store: %w", err)
	}
	return rediskit.Explain(err)
}

// Check reads the settings of the server, or of all masters of a cluster, and returns an error that names each setting
// that could lose a mark: a version before 7.0, a replica in place of a master, a maxmemory-policy that evicts keys
// without an expiry, appendonly no, fewer replicas than Options.Replicas, a client that does not reach them. Settings
// that the server does not report are not checked, nor are appendfsync and failover: see the package documentation.
// Call it once at the start of a program. It changes nothing.
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

// judge checks one server.
func (s *Store) judge(server *rediskit.Server) error {
	errs := []error{server.Old(), server.Loses()}
	if server.AOF == "0" {
		errs = append(errs, errors.New("appendonly is no, so a restart loses marks; set appendonly yes"))
	}
	if n, err := strconv.Atoi(server.Replicas); err == nil && n < s.opts.Replicas {
		errs = append(errs, fmt.Errorf("%d replicas are connected, and Options.Replicas is %d", n, s.opts.Replicas))
	}
	return errors.Join(errs...)
}
