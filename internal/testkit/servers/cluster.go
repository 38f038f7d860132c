package servers

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// RedisCluster is a Redis Cluster of three masters with a replica each.
type RedisCluster struct {
	Nodes []*RedisServer
	cli   string
}

var sharedCluster shared[*RedisCluster]

// Cluster returns the Redis Cluster shared by all tests of this process. A test that kills nodes or moves slots must
// use NewCluster.
func Cluster(t testing.TB) *RedisCluster {
	t.Helper()
	server, cli := program(t, "redis-server", installRedis), program(t, "redis-cli", installRedis)
	return sharedCluster.get(t, func() (*RedisCluster, func() error, error) {
		c, err := startCluster(server, cli)
		if err != nil {
			return nil, nil, err
		}
		return c, c.Close, nil
	})
}

// NewCluster starts a Redis Cluster for one test; args are added to the arguments of its nodes. It takes two to three
// seconds.
func NewCluster(t testing.TB, args ...string) *RedisCluster {
	t.Helper()
	c, err := startCluster(program(t, "redis-server", installRedis), program(t, "redis-cli", installRedis), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// StartCluster is NewCluster for programs other than tests. The caller must call Close.
func StartCluster(args ...string) (*RedisCluster, error) {
	server, cli, err := redisPrograms()
	if err != nil {
		return nil, err
	}
	return startCluster(server, cli, args...)
}

func startCluster(server, cli string, args ...string) (*RedisCluster, error) {
	c := &RedisCluster{cli: cli}
	args = append([]string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0",
	}, args...)
	for range 6 {
		r, err := startRedis(server, cli, args...)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.Nodes = append(c.Nodes, r)
	}
	create := []string{"--cluster", "create"}
	for _, n := range c.Nodes {
		create = append(create, n.Addr())
	}
	create = append(create, "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.Command(cli, create...).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("redis-cli %q: %w\n%s", create, err, out), c.Close())
	}
	until := time.Now().Add(patience)
	for {
		err := c.ready()
		if err == nil {
			return c, nil
		}
		if time.Now().After(until) {
			return nil, errors.Join(fmt.Errorf("the cluster is not ready after %v: %w", patience, err), c.Close())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ready returns nil if every running node reports a working cluster, and each replica has caught up with its master.
func (c *RedisCluster) ready() error {
	for _, n := range c.Nodes {
		if n.PID() == 0 {
			continue
		}
		info, err := n.command("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		if !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("%s: %s", n.Addr(), info)
		}
		role, err := n.command("INFO", "replication")
		if err != nil {
			return err
		}
		if strings.Contains(role, "role:slave") && !strings.Contains(role, "master_link_status:up") {
			return fmt.Errorf("%s has not caught up with its master", n.Addr())
		}
	}
	return nil
}

// Ready reports whether every running node reports a working cluster and has caught up.
func (c *RedisCluster) Ready() bool { return c.ready() == nil }

// Close stops all nodes and removes their data. Clusters of tests are closed automatically.
func (c *RedisCluster) Close() error {
	var errs []error
	for _, n := range c.Nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// Addrs returns the addresses of all nodes.
func (c *RedisCluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr())
	}
	return addrs
}

// Master returns the node that serves a hash slot.
func (c *RedisCluster) Master(t testing.TB, slot int) *RedisServer {
	t.Helper()
	for _, m := range c.masters(t) {
		for _, r := range m.slots {
			if slot >= r[0] && slot <= r[1] {
				return m.node
			}
		}
	}
	t.Fatalf("no master serves slot %d", slot)
	return nil
}

// Masters returns the nodes that serve slots.
func (c *RedisCluster) Masters(t testing.TB) []*RedisServer {
	t.Helper()
	var nodes []*RedisServer
	for _, m := range c.masters(t) {
		nodes = append(nodes, m.node)
	}
	return nodes
}

// Replica returns the replica of a master. It waits until the master lists it.
func (c *RedisCluster) Replica(t testing.TB, master *RedisServer) *RedisServer {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		replicas := master.CLI(t, "CLUSTER", "REPLICAS", master.CLI(t, "CLUSTER", "MYID"))
		for _, n := range c.Nodes {
			if strings.Contains(replicas, " "+n.Addr()+"@") {
				return n
			}
		}
	}
	t.Fatalf("%s has no replica after %v", master.Addr(), patience)
	return nil
}

// Slot returns the hash slot of a key.
func (c *RedisCluster) Slot(t testing.TB, key string) int {
	t.Helper()
	slot, err := strconv.Atoi(c.Masters(t)[0].CLI(t, "CLUSTER", "KEYSLOT", key))
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

// MoveSlot moves a hash slot with its keys to another master, one key at a time, so that scripts find keys on both
// sides. Other clients continue meanwhile. between, if not nil, is called after each key.
func (c *RedisCluster) MoveSlot(t testing.TB, slot int, to *RedisServer, between func()) {
	t.Helper()
	from := c.Master(t, slot)
	if from == to {
		return
	}
	s, source, target := strconv.Itoa(slot), from.CLI(t, "CLUSTER", "MYID"), to.CLI(t, "CLUSTER", "MYID")
	to.CLI(t, "CLUSTER", "SETSLOT", s, "IMPORTING", source)
	from.CLI(t, "CLUSTER", "SETSLOT", s, "MIGRATING", target)
	for {
		keys := from.CLI(t, "CLUSTER", "GETKEYSINSLOT", s, "100")
		if keys == "" {
			break
		}
		for key := range strings.SplitSeq(keys, "\n") {
			from.CLI(t, "MIGRATE", "127.0.0.1", strconv.Itoa(to.port), key, "0", "5000")
			if between != nil {
				between()
			}
		}
	}
	// Start with the new owner: a slot with two owners is better than one without.
	for _, n := range append([]*RedisServer{to, from}, c.Masters(t)...) {
		n.CLI(t, "CLUSTER", "SETSLOT", s, "NODE", target)
	}
}

type master struct {
	node  *RedisServer
	slots [][2]int
}

// masters returns the view of the first running node.
func (c *RedisCluster) masters(t testing.TB) (all []master) {
	t.Helper()
	for _, n := range c.Nodes {
		if n.PID() != 0 {
			return c.parse(t, n.CLI(t, "CLUSTER", "NODES"))
		}
	}
	t.Fatal("no node of the cluster runs")
	return nil
}

// parse parses lines of the form: id host:port@bus flags master ping pong epoch state slot slot-slot [slot->-id]….
func (c *RedisCluster) parse(t testing.TB, nodes string) (all []master) {
	t.Helper()
	for line := range strings.SplitSeq(nodes, "\n") {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.Contains(f[2], "master") || strings.Contains(f[2], "fail") {
			continue
		}
		addr, _, _ := strings.Cut(f[1], "@")
		m := master{}
		for _, n := range c.Nodes {
			if n.Addr() == addr {
				m.node = n
			}
		}
		for _, s := range f[8:] {
			first, last, two := strings.Cut(s, "-")
			if !two {
				last = first
			}
			a, err1 := strconv.Atoi(first)
			b, err2 := strconv.Atoi(last)
			if err1 == nil && err2 == nil { // a moving slot is listed in brackets, and again without
				m.slots = append(m.slots, [2]int{a, b})
			}
		}
		if m.node == nil {
			t.Fatalf("the cluster knows a node that is not of it: %s", line)
		}
		all = append(all, m)
	}
	return all
}
