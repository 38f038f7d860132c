package rediskit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Server holds the settings of a server. "" means that a setting could not be read: managed services refuse CONFIG.
type Server struct {
	Addr     string // "" except for masters of a cluster
	Cluster  bool
	Version  string
	Role     string // master or slave
	Eviction string // maxmemory-policy
	AOF      string // "1" or "0"
	FSync    string // appendfsync
	Save     string // "" also without snapshots: see SaveRead
	SaveRead bool
	Replicas string // number of connected replicas
}

// Examine reads the settings of the server, or of all masters of a cluster in the order of their addresses. It returns
// at least one, or an error.
func Examine(ctx context.Context, client redis.UniversalClient) ([]Server, error) {
	cluster, ok := client.(clustered)
	if !ok {
		s, err := examine(ctx, client)
		return []Server{s}, err
	}
	var mu sync.Mutex
	var all []Server
	var errs []error
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		s, err := examine(ctx, node)
		s.Addr, s.Cluster = node.Options().Addr, true
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Addr, err))
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("the cluster has no master")
	}
	slices.SortFunc(all, func(a, b Server) int { return strings.Compare(a.Addr, b.Addr) })
	return all, errors.Join(append(errs, err)...)
}

// Judge joins the errors that judge returns for the servers, with the address of each if it has one.
func Judge(servers []Server, judge func(s *Server) error) error {
	var errs []error
	for i := range servers {
		err := judge(&servers[i])
		if err != nil && servers[i].Addr != "" {
			err = fmt.Errorf("%s: %w", servers[i].Addr, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func examine(ctx context.Context, c redis.UniversalClient) (s Server, err error) {
	text, err := c.Do(ctx, "INFO").Text()
	if err != nil {
		return s, fmt.Errorf("INFO: %w", err)
	}
	info := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[k] = v
		}
	}
	s = Server{
		Cluster: info["cluster_enabled"] == "1", Version: info["redis_version"], Role: info["role"],
		Eviction: info["maxmemory_policy"], AOF: info["aof_enabled"], Replicas: info["connected_slaves"],
	}
	if s.FSync, _, err = setting(ctx, c, "appendfsync"); err != nil { // "" means unknown: the setting is never empty
		return s, err
	}
	s.Save, s.SaveRead, err = setting(ctx, c, "save")
	return s, err
}

// setting reads one setting by CONFIG GET. read is false if the server refuses that. Another error is returned, because
// ignoring it could hide that the server keeps nothing.
func setting(ctx context.Context, c redis.UniversalClient, name string) (text string, read bool, err error) {
	answer, err := c.Do(ctx, "CONFIG", "GET", name).Result()
	switch {
	case err != nil && Refused(err) && !Transient(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("CONFIG GET %s: %w", name, err)
	}
	switch v := answer.(type) {
	case []any:
		if len(v) == 2 {
			text, read = v[1].(string)
		}
	case map[any]any:
		text, read = v[name].(string)
	}
	return text, read, nil
}

// Old returns an error if the server is too old for the scripts. An unknown version is accepted.
func (s *Server) Old() error {
	text, _, _ := strings.Cut(s.Version, ".") // a version without a dot is only a major version
	if major, err := strconv.Atoi(text); err == nil && major < 7 {
		return fmt.Errorf("server is Redis %s, want 7.0 or later: its scripts have no flags; use a newer server", s.Version)
	}
	return nil
}

// Loses returns an error if the server refuses writes, or removes keys while it runs.
func (s *Server) Loses() error {
	var errs []error
	if s.Role == "slave" {
		errs = append(errs, errors.New("server is a replica, which refuses writes and may be stale; use its master"))
	}
	if s.Evicts() {
		errs = append(errs, fmt.Errorf("maxmemory-policy is %s: Redis may evict keys; set noeviction", s.Eviction))
	}
	return errors.Join(errs...)
}

// Evicts reports whether the server is known to remove keys without an expiry when its memory is full.
func (s *Server) Evicts() bool { return strings.HasPrefix(s.Eviction, "allkeys") }

// KeepsNothing reports whether the server is known to keep nothing when its process ends.
func (s *Server) KeepsNothing() bool { return s.AOF == "0" && s.SaveRead && s.Save == "" }
