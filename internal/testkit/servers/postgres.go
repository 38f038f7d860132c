package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const installPostgres = "apt-get install postgresql"

// PostgresServer is a PostgreSQL server: its Process is the postmaster, which has a child for each connection.
type PostgresServer struct {
	Process
	port   int
	bin    string // the folder of its programs
	args   []string
	shared bool
}

var sharedPostgres shared[*PostgresServer]

// testSettings are the settings of test servers. Tests only kill servers, and written data is then already in the
// kernel: a committed transaction survives without fsync, and dropping a database takes a third of the time.
var testSettings = []string{"-c", "fsync=off", "-c", "full_page_writes=off"}

// Postgres returns the PostgreSQL server shared by all tests of this process. It has PostgreSQL's default settings and
// testSettings. Committed transactions survive a kill. Each test uses its own Database.
func Postgres(t testing.TB) *PostgresServer {
	t.Helper()
	bin := postgresOf(t)
	return sharedPostgres.get(t, func() (*PostgresServer, func() error, error) {
		r, err := fromTemplate(bin)
		if err != nil {
			return nil, nil, err
		}
		r.shared = true
		return r, r.Close, nil
	})
}

// NewPostgres starts a PostgreSQL server for one test. args are added and override those of Postgres, for example "-c",
// "max_connections=10". The server ends with the test.
func NewPostgres(t testing.TB, args ...string) *PostgresServer {
	t.Helper()
	r, err := fromTemplate(postgresOf(t), args...)
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

// StartPostgres is NewPostgres for programs other than tests, with fsync. The caller must call Close.
func StartPostgres(args ...string) (*PostgresServer, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	return startPostgres(bin, initdb, args...)
}

// postgresOf is postgresPrograms for a test. Without the programs the test is skipped or fails.
func postgresOf(t testing.TB) (bin string) {
	t.Helper()
	bin, err := postgresPrograms()
	if err != nil {
		missing(t, "postgres", installPostgres)
	}
	long(t)
	return bin
}

// postgresPrograms returns the folder of PostgreSQL's programs: that in PATH, which chooses a version, otherwise the
// newest in Debian's folder, which is not in PATH.
func postgresPrograms() (bin string, err error) {
	path, err := exec.LookPath("postgres")
	if err == nil {
		path, err = filepath.EvalSymlinks(path) // the other programs may be where it leads
	}
	if err == nil {
		return filepath.Dir(path), nil
	}
	newest := 0
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	for _, path := range found {
		dir := filepath.Dir(path)
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && version > newest {
			newest, bin = version, dir
		}
	}
	if bin == "" {
		return "", fmt.Errorf("%w: %s", err, installPostgres)
	}
	return bin, nil
}

// template is the data folder of a server that was never started, made once per process: a copy takes a tenth of the
// time.
var template shared[string]

func fromTemplate(bin string, args ...string) (*PostgresServer, error) {
	from, err := template.try(func() (string, func() error, error) {
		dir, err := postgresDir()
		if err != nil {
			return "", nil, err
		}
		remove := func() error { return os.RemoveAll(dir) }
		data := filepath.Join(dir, "data")
		if err := initdb(bin, data); err != nil {
			return "", nil, errors.Join(err, remove())
		}
		return data, remove, nil
	})
	if err != nil {
		return nil, err
	}
	return startPostgres(bin, func(_, data string) error { return runAsPostgres("cp", "-Rp", from, data) },
		slices.Concat(testSettings, args)...)
}

func initdb(bin, data string) error {
	return runAsPostgres(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust",
		"--no-sync", "--locale=C", "-E", "UTF8")
}

func runAsPostgres(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = os.TempDir() // the user postgres may lack access to the folder of the test
	if err := asPostgres(cmd); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", argv, err, out)
	}
	return nil
}

// startPostgres retries with another port if another process has taken the first one.
func startPostgres(bin string, fill func(bin, data string) error, args ...string) (*PostgresServer, error) {
	var errs []error
	for range 3 {
		r, err := tryPostgres(bin, fill, args)
		if err == nil {
			return r, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func tryPostgres(bin string, fill func(bin, data string) error, args []string) (*PostgresServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := postgresDir()
	if err != nil {
		return nil, err
	}
	r := &PostgresServer{port: port, bin: bin, args: args, Process: Process{name: "postgres on " + local(port), dir: dir, family: true}}
	if err := fill(bin, r.data()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.argv = append([]string{
		r.Program("postgres"), "-D", r.data(), "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=200", "-c", "max_prepared_transactions=10",
		// In the data folder, so that a killed server leaves nothing in /dev/shm.
		"-c", "dynamic_shared_memory_type=mmap",
	}, args...)
	r.prepare, r.ready = prepare, r.ping
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// prepare makes the server end with the test process, as CrashImmediate does: a kill would leave busy children and
// shared memory. A server that is frozen at that moment stays.
func prepare(cmd *exec.Cmd) error {
	dieWithParent(cmd, syscall.SIGQUIT)
	return asPostgres(cmd)
}

// Standby starts a hot standby of the server by streaming replication, with the same arguments. It ends with the test;
// pg_promote() makes it writable.
func (r *PostgresServer) Standby(t testing.TB) *PostgresServer {
	t.Helper()
	s, err := startPostgres(r.bin, func(bin, data string) error {
		return runAsPostgres(filepath.Join(bin, "pg_basebackup"), "-D", data, "-R", "-c", "fast", "--no-sync", "-d", r.URL("postgres"))
	}, r.args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// CrashImmediate ends the server like pg_ctl -m immediate stop, without a checkpoint, so it recovers from its log at
// the next start. It returns when all its processes have ended.
func (r *PostgresServer) CrashImmediate(t testing.TB) {
	t.Helper()
	if err := r.crash(); err != nil {
		t.Fatal(err)
	}
}

func (r *PostgresServer) crash() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return nil
	}
	// A frozen process receives the signal only when it continues.
	for _, err := range []error{r.send(syscall.SIGQUIT, false), r.send(sigCont, true)} {
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	select {
	case <-r.ended:
		r.cmd = nil
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s does not end after %v:\n%s", r.name, patience, r.log()), r.end())
	}
}

// Close stops the server and removes its data. Servers of tests are closed automatically.
func (r *PostgresServer) Close() error {
	err := r.crash()
	r.removeSharedMemory()
	return errors.Join(err, os.RemoveAll(r.dir))
}

// removeSharedMemory removes the shared memory of a killed server from the kernel, which has room for a few thousand
// segments. Its ID is in the lock file, which exists only after a kill.
func (r *PostgresServer) removeSharedMemory() {
	lock, _ := os.ReadFile(filepath.Join(r.data(), "postmaster.pid"))
	if lines := strings.Split(string(lock), "\n"); len(lines) > 6 {
		if f := strings.Fields(lines[6]); len(f) == 2 {
			_ = exec.Command("ipcrm", "-m", f[1]).Run() // without ipcrm the segment stays
		}
	}
}

func (r *PostgresServer) data() string { return filepath.Join(r.dir, "data") }

// Addr returns host:port.
func (r *PostgresServer) Addr() string { return local(r.port) }

// URL returns the address of a database as postgres://…; the database "postgres" always exists.
func (r *PostgresServer) URL(database string) string {
	return "postgres://postgres@" + r.Addr() + "/" + database + "?sslmode=disable"
}

var databases atomic.Int64

// Database creates an empty database for a test and returns its URL. It is dropped by force with the test, or together
// with a server that belongs to the test.
func (r *PostgresServer) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	create := "CREATE DATABASE " + name + " TEMPLATE template0"
	version := r.SQL(t, "postgres", "SHOW server_version_num")
	if version >= "150000" {
		create += " STRATEGY FILE_COPY" // without fsync it takes half of the CPU time
	}
	r.SQL(t, "postgres", create)
	if version < "150000" {
		r.SQL(t, name, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as later versions have it
	}
	drop := []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"}
	if version < "130000" {
		drop = []string{"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'", "DROP DATABASE IF EXISTS " + name}
	}
	if r.shared {
		t.Cleanup(func() {
			for _, statement := range drop {
				if _, err := r.query("postgres", statement); err != nil {
					t.Error(err)
				}
			}
		})
	}
	return r.URL(name)
}

// Program returns the path of a program of the server, such as pg_dump, pg_restore or psql.
func (r *PostgresServer) Program(name string) string { return filepath.Join(r.bin, name) }
