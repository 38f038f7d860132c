package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Check reads the settings of the server, of a cluster those of all masters, and returns an error that names
// everything by which a mark could be lost: a version before 7.0, a replica in the place of a master, a maxmemory-policy that
// evicts keys without an expiry, appendonly no, fewer replicas than Options.Replicas. What a server does not tell is
// not judged, and appendfsync and what fails over are not either: see the package's documentation. Call it once, where a
// program begins. It changes nothing.
func (s *Store) Check(ctx context.Context) error {
	cluster, ok := s.client.(interface {
		ForEachMaster(ctx context.Context, fn func(context.Context, *redis.Client) error) error
	})
	if !ok {
		if err := s.checkServer(ctx, s.client); err != nil {
			return fmt.Errorf("redisstore: %w", err)
		}
		return nil
	}
	var mu sync.Mutex
	var errs []error
	masters := 0
	if err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		err := s.checkServer(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		masters++
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", node.Options().Addr, err))
		}
		return nil
	}); err != nil {
		errs = append(errs, err)
	} else if masters == 0 {
		errs = append(errs, errors.New("the cluster has no master"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("redisstore: %w", err)
	}
	return nil
}

// checkServer is Check of one server.
func (s *Store) checkServer(ctx context.Context, server redis.Cmdable) error {
	text, err := server.Info(ctx).Result()
	if err != nil {
		return fmt.Errorf("INFO: %w", err)
	}
	info := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	var errs []error
	major, _, _ := strings.Cut(info["redis_version"], ".") // a version without a dot is all major
	if n, err := strconv.Atoi(major); err == nil && n < 7 {
		errs = append(errs, fmt.Errorf("the server is Redis %s, and 7.0 is needed", info["redis_version"]))
	}
	if info["role"] == "slave" {
		errs = append(errs, errors.New("the server is a replica: it takes no writes, and what it has may be old"))
	}
	if policy := info["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys") {
		errs = append(errs, fmt.Errorf("maxmemory-policy is %s: a server whose memory is full throws away marks; use noeviction", policy))
	}
	if info["aof_enabled"] == "0" {
		errs = append(errs, errors.New("appendonly is no: a server that restarts has lost marks; use appendonly yes"))
	}
	if n, err := strconv.Atoi(info["connected_slaves"]); err == nil && n < s.opts.Replicas {
		errs = append(errs, fmt.Errorf("%d replicas are connected, and Options.Replicas is %d", n, s.opts.Replicas))
	}
	return errors.Join(errs...)
}
