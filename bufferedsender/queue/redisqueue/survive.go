package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// server is what is known of the settings of a server, or of the worst of the masters of a cluster. "" is
// what could not be read: managed services refuse CONFIG.
type server struct {
	cluster  bool
	version  string
	role     string
	eviction string // maxmemory-policy
	aof      string // "1" or "0"
	fsync    string // appendfsync
	snapshot string // save
	saveRead bool
	replicas string
}

// examine reads the settings.
func examine(ctx context.Context, c Client) (server, error) {
	cluster, ok := c.(clustered)
	if !ok {
		return examineOne(ctx, c)
	}
	var mu sync.Mutex
	var worst *server
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		s, err := examineOne(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && (worst == nil || s.rank() < worst.rank()) {
			worst = &s
		}
		return err
	})
	if err != nil {
		return server{}, fmt.Errorf("redisqueue: %w", err)
	}
	if worst == nil {
		return server{}, errors.New("redisqueue: the cluster has no master")
	}
	worst.cluster = true
	return *worst, nil
}

// rank orders servers by what they keep.
func (s *server) rank() int {
	switch {
	case strings.HasPrefix(s.eviction, "allkeys"):
		return 0
	case s.volatile():
		return 1
	case s.aof == "0":
		return 2
	case s.aof == "":
		return 3
	case s.fsync == "no" || s.fsync == "":
		return 4
	case s.fsync == "everysec":
		return 5
	}
	return 6
}

func examineOne(ctx context.Context, c Client) (s server, err error) {
	text, err := c.Do(ctx, "INFO").Text()
	if err != nil {
		return s, fmt.Errorf("redisqueue: INFO: %w", err)
	}
	info := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[k] = v
		}
	}
	s = server{
		version: info["redis_version"], role: info["role"], eviction: info["maxmemory_policy"], aof: info["aof_enabled"],
		replicas: info["connected_slaves"], cluster: info["cluster_enabled"] == "1",
	}
	if s.fsync, _, err = setting(ctx, c, "appendfsync"); err != nil { // "" is unknown: it is never empty
		return s, err
	}
	s.snapshot, s.saveRead, err = setting(ctx, c, "save")
	return s, err
}

// setting is one of CONFIG. read is false if the server refuses to tell it, which is not the same as an error: that may hide that
// the server keeps nothing.
func setting(ctx context.Context, c Client, name string) (text string, read bool, err error) {
	answer, err := c.Do(ctx, "CONFIG", "GET", name).Result()
	switch {
	case err != nil && refusal(err) && !transient(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("redisqueue: CONFIG GET %s: %w", name, err)
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

// volatile reports whether it is known that nothing outlives the server's process.
func (s *server) volatile() bool { return s.aof == "0" && s.saveRead && s.snapshot == "" }

// weaker says what is missing for a durability, nil if nothing is that can be known.
func (s *server) weaker(d Durability) error {
	var errs []error
	if s.role == "slave" {
		errs = append(errs, errors.New("the server is a replica: it takes no writes"))
	}
	if strings.HasPrefix(s.eviction, "allkeys") {
		errs = append(errs, fmt.Errorf("maxmemory-policy is %s: a server whose memory is full throws away keys of the queue; noeviction is right", s.eviction))
	}
	switch {
	case s.volatile() && d <= 0:
		errs = append(errs, errors.New("appendonly is no and there are no snapshots: the server keeps nothing when its process ends"))
	case d == Process && s.aof != "1":
		errs = append(errs, fmt.Errorf("appendonly is %s, and Process needs yes", yes(s.aof)))
	case d == Disk && (s.aof != "1" || s.fsync != "always"):
		errs = append(errs, fmt.Errorf("appendonly is %s and appendfsync %s, and Disk needs yes and always", yes(s.aof), word(s.fsync)))
	}
	return errors.Join(errs...)
}

// old reports whether the scripts cannot run. An unknown version is tried.
func old(version string) bool {
	text, _, _ := strings.Cut(version, ".") // a version without a dot is all major
	major, err := strconv.Atoi(text)
	return err == nil && major < 7
}

func word(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func yes(s string) string { return map[string]string{"1": "yes", "0": "no", "": "unknown"}[s] }

// survives says what a queue on this server survives.
func (s *server) survives(d Durability) string {
	var b strings.Builder
	switch {
	case s.aof == "1" && s.fsync == "always":
		b.WriteString("What is acknowledged is on the server's disk (appendonly yes, appendfsync always).")
	case s.aof == "1" && s.fsync == "everysec":
		b.WriteString("It survives a crash of the server's process; up to two seconds of what was acknowledged are lost when its machine goes down (appendonly yes, appendfsync everysec).")
	case s.aof == "1" && s.fsync == "no":
		b.WriteString("It survives a crash of the server's process; what the system has not written yet is lost when its machine goes down (appendonly yes, appendfsync no).")
	case s.aof == "1":
		b.WriteString("It survives a crash of the server's process (appendonly yes); how much is lost when its machine goes down is unknown, the server does not tell appendfsync.")
	case s.volatile():
		b.WriteString("The server keeps nothing when its process ends (appendonly no, no snapshots).")
	case s.aof == "0":
		b.WriteString("A crash of the server's process loses what came after its last snapshot (appendonly no, save " + quoteSave(s) + ").")
	default:
		b.WriteString("What a crash of the server's process loses is unknown: it does not tell its settings.")
	}
	if d > 0 {
		fmt.Fprintf(&b, " Append waits until %d of its replicas (%s connected) have it, so a failover to one of these loses nothing.", d, word(s.replicas))
	} else {
		fmt.Fprintf(&b, " A failover to a replica (%s connected) loses what that lacks.", word(s.replicas))
	}
	switch {
	case strings.HasPrefix(s.eviction, "allkeys"):
		b.WriteString(" A server whose memory is full throws away keys of the queue (maxmemory-policy " + s.eviction + ").")
	case s.eviction == "":
		b.WriteString(" Whether the server throws away keys when its memory is full is unknown.")
	}
	return b.String()
}

func quoteSave(s *server) string {
	if !s.saveRead {
		return "unknown"
	}
	return fmt.Sprintf("%q", s.snapshot)
}
