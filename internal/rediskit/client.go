package rediskit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// clustered is implemented by a *redis.ClusterClient, and by types that embed one.
type clustered interface {
	MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	ForEachMaster(ctx context.Context, fn func(context.Context, *redis.Client) error) error
}

// sharded is also implemented by a *redis.Ring.
type sharded interface {
	ForEachShard(ctx context.Context, fn func(context.Context, *redis.Client) error) error
}

// reloading is implemented by a client that can reload the slots of the cluster.
type reloading interface{ ReloadState(ctx context.Context) }

// Dial makes a client for a redis:// or rediss:// URL; a cluster client if the server belongs to a cluster.
func Dial(ctx context.Context, url string) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	single := redis.NewClient(o)
	info, err := single.Info(ctx, "cluster").Result()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Addr, err), single.Close())
	}
	if !strings.Contains(info, "cluster_enabled:1") {
		return single, nil
	}
	if err := single.Close(); err != nil {
		return nil, err
	}
	return redis.NewClusterClient(clusterOptions(o)), nil
}

func clusterOptions(o *redis.Options) *redis.ClusterOptions {
	var config *tls.Config
	if o.TLSConfig != nil {
		config = o.TLSConfig.Clone()
	}
	return &redis.ClusterOptions{
		Addrs: []string{o.Addr}, Username: o.Username, Password: o.Password, TLSConfig: config,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ContextTimeoutEnabled: true,
		// With the default of a minute, a client keeps asking a master that is gone for that long.
		ClusterStateReloadInterval: time.Second,
	}
}

// CheckClient returns an error for a client that does not keep all state in one place. bounded reports whether calls of
// the client are known to end with their context; for a type that embeds a client it is unknown, and true is returned.
func CheckClient(client redis.UniversalClient) (bounded bool, err error) {
	if nilcheck.IsNil(client) {
		return true, errors.New("client is nil: make one with redis.NewUniversalClient")
	}
	bounded = true
	switch c := client.(type) {
	case *redis.Client:
		bounded = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		bounded = c.Options().ContextTimeoutEnabled
	}
	_, cluster := client.(clustered)
	if _, shards := client.(sharded); shards && !cluster {
		return true, errors.New("client is a Ring, which uses another server, without the keys, while one does not answer; use a client of one server, of Sentinel, or of a cluster")
	}
	return bounded, nil
}

// CheckWait returns an error if WAIT through a client would not reach the server that ran the script.
func CheckWait(client redis.UniversalClient, servers []Server) error {
	if _, ok := client.(clustered); !ok && servers[0].Cluster {
		return errors.New("WAIT would not reach the master of a key through this client of a cluster: use a *redis.ClusterClient, or a type that embeds one")
	}
	return nil
}

// Master returns a client of the server that holds a key.
func Master(ctx context.Context, client redis.UniversalClient, key string) (redis.UniversalClient, error) {
	cluster, ok := client.(clustered)
	if !ok {
		return client, nil
	}
	node, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("finding a master of the cluster: %w", err)
	}
	return node, nil
}
