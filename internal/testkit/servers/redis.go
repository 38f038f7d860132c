package servers

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const installRedis = "apt-get install redis-server"

// RedisServer is a redis-server process.
type RedisServer struct {
	Process
	port int
	cli  string
}

var sharedRedis shared[*RedisServer]

// Redis returns the redis-server shared by all tests of this process. It syncs its log each second and evicts no keys.
// Tests must use different key names.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	server, cli := program(t, "redis-server", installRedis), program(t, "redis-cli", installRedis)
	return sharedRedis.get(t, func() (*RedisServer, func() error, error) {
		r, err := startRedis(server, cli)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	})
}

// NewRedis starts a redis-server for one test. args are added and override the arguments of Redis, for example
// "--appendfsync", "always". The server ends with the test.
func NewRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	r, err := startRedis(program(t, "redis-server", installRedis), program(t, "redis-cli", installRedis), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// StartRedis is NewRedis for programs other than tests. The caller must call Close.
func StartRedis(args ...string) (*RedisServer, error) {
	server, cli, err := redisPrograms()
	if err != nil {
		return nil, err
	}
	return startRedis(server, cli, args...)
}

func redisPrograms() (server, cli string, err error) {
	server, err1 := exec.LookPath("redis-server")
	cli, err2 := exec.LookPath("redis-cli")
	if err := errors.Join(err1, err2); err != nil {
		return "", "", fmt.Errorf("%w: %s", err, installRedis)
	}
	return server, cli, nil
}

// startRedis retries with another port if another process has taken the first one.
func startRedis(server, cli string, args ...string) (*RedisServer, error) {
	var errs []error
	for range 3 {
		r, err := tryRedis(server, cli, args)
		if err == nil {
			return r, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func tryRedis(server, cli string, args []string) (*RedisServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redis-")
	if err != nil {
		return nil, err
	}
	r := &RedisServer{port: port, cli: cli, Process: Process{name: "redis-server on " + local(port), dir: dir}}
	r.argv = append([]string{
		server, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction",
	}, args...)
	r.ready, r.prepare = r.ping, func(cmd *exec.Cmd) error { dieWithParent(cmd, syscall.SIGKILL); return nil }
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// ping returns nil if the server answers and has loaded its data.
func (r *RedisServer) ping() error {
	c, err := net.DialTimeout("tcp", r.Addr(), time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err
	}
	if answer != "+PONG\r\n" {
		return errors.New(strings.TrimSpace(answer))
	}
	return nil
}

// Close stops the server and removes its data. Servers of tests are closed automatically.
func (r *RedisServer) Close() error { return errors.Join(r.kill(), os.RemoveAll(r.dir)) }

// Addr returns host:port.
func (r *RedisServer) Addr() string { return local(r.port) }

// URL returns the address as redis://….
func (r *RedisServer) URL() string { return "redis://" + r.Addr() }

// CLI runs a command by redis-cli and returns its output without the last line break. An error of the server fails the
// test.
func (r *RedisServer) CLI(t testing.TB, args ...string) string {
	t.Helper()
	out, err := r.command(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *RedisServer) command(args ...string) (string, error) {
	out, err := exec.Command(r.cli, append([]string{"-e", "-p", strconv.Itoa(r.port)}, args...)...).CombinedOutput()
	answer := strings.TrimRight(string(out), "\r\n")
	if err != nil {
		return "", fmt.Errorf("redis-cli %q on %s: %w: %s", args, r.Addr(), err, answer)
	}
	return answer, nil
}
