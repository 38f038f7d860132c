package servers

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) {
	if os.Getenv("SERVERS_TEST_PARENT") != "" {
		parent()
	}
	Main(m)
}

func TestMissingProgramFailsWhereServersAreRequired(t *testing.T) {
	for value, ends := range map[string]string{"required": "failed", "": "skipped"} {
		t.Setenv(Required, value)
		fake := &ending{TB: t}
		program(fake, "no-such-program-anywhere", "install it")
		require.Equal(t, ends, fake.how)
	}
}

// ending records how a test would have ended.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Fatalf(string, ...any) { e.how = "failed" }

func (e *ending) Skipf(string, ...any) {
	if e.how == "" {
		e.how = "skipped"
	}
}

func TestRedisIsStartedOnceForTheProcess(t *testing.T) {
	require.Same(t, Redis(t), Redis(t))
}

func TestKilledRedisComesBackWithItsData(t *testing.T) {
	r := NewRedis(t, "--appendfsync", "always")
	r.CLI(t, "SET", "a", "1")
	r.Kill(t)
	require.Error(t, r.ping())
	require.Zero(t, r.PID())
	r.Restart(t)
	require.Equal(t, "1", r.CLI(t, "GET", "a"))
}

func TestStoppedRedisAnswersAfterCont(t *testing.T) {
	r := NewRedis(t)
	r.Stop(t)
	require.Error(t, r.ping())
	r.Cont(t)
	testkit.Eventually(t, func() bool { return r.ping() == nil })
}

func TestPostgresIsStartedOnceForTheProcess(t *testing.T) {
	require.Same(t, Postgres(t), Postgres(t))
}

func TestKilledPostgresComesBackWithItsData(t *testing.T) {
	r := NewPostgres(t)
	url := r.Database(t)
	for i := range 3 {
		r.SQL(t, url, "CREATE TABLE t"+strconv.Itoa(i)+" AS SELECT 1 AS a")
		children, err := childrenOf(r.PID())
		require.NoError(t, err)
		require.NotEmpty(t, children)
		r.Kill(t)
		require.Error(t, r.ping())
		require.Zero(t, r.PID())
		for _, pid := range children {
			testkit.Eventually(t, func() bool { return !alive(strconv.Itoa(pid)) })
		}
		r.Restart(t)
		require.Equal(t, "1", r.SQL(t, url, "SELECT a FROM t"+strconv.Itoa(i)))
	}
}

func TestPostgresKeepsWhatIsCommittedInAnImmediateCrash(t *testing.T) {
	r := NewPostgres(t)
	url := r.Database(t)
	r.SQL(t, url, "CREATE TABLE t (a text, b int)")
	r.SQL(t, url, "INSERT INTO t VALUES ('x', 1), ('y', 2)")
	r.CrashImmediate(t)
	require.Error(t, r.ping())
	require.Zero(t, r.PID())
	r.Restart(t)
	require.Equal(t, "x|1\ny|2", r.SQL(t, url, "SELECT * FROM t ORDER BY a"))
	log, err := os.ReadFile(r.logFile())
	require.NoError(t, err)
	require.Contains(t, string(log), "automatic recovery in progress")
}

func TestKillEndsTheQueriesOfPostgres(t *testing.T) {
	r := NewPostgres(t)
	began := time.Now()
	query := exec.Command(r.Program("psql"), "-X", "-d", r.URL("postgres"), "-c",
		"DO $$ BEGIN LOOP END LOOP; END $$") // does not detect a lost client
	require.NoError(t, query.Start())
	testkit.Eventually(t, func() bool {
		return r.SQL(t, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %'") == "1"
	})
	r.Kill(t)
	require.Error(t, query.Wait())
	r.Restart(t)
	require.Less(t, time.Since(began), patience)
}

func TestStoppedPostgresAnswersAfterCont(t *testing.T) {
	r := NewPostgres(t)
	// An existing connection has its own server process, which must not reply either.
	client := exec.Command(r.Program("psql"), "-X", "-q", "-At", "-d", r.URL("postgres"))
	in, err := client.StdinPipe()
	require.NoError(t, err)
	out, err := client.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, client.Start())
	answers := make(chan string)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			answers <- lines.Text()
		}
		close(answers)
	}()
	ask := func() {
		_, err := in.Write([]byte("SELECT 1;\n"))
		require.NoError(t, err)
	}
	ask()
	require.Equal(t, "1", <-answers)

	r.Stop(t)
	require.Error(t, r.ping())
	ask()
	select {
	case a := <-answers:
		t.Fatalf("a stopped server answers %q", a)
	case <-time.After(200 * time.Millisecond):
	}
	r.Cont(t)
	require.Equal(t, "1", <-answers)
	testkit.Eventually(t, func() bool { return r.ping() == nil })
	require.NoError(t, in.Close())
	_, more := <-answers
	require.False(t, more)
	require.NoError(t, client.Wait())
}

func TestStoppedPostgresCanBeEnded(t *testing.T) {
	r := NewPostgres(t)
	r.Stop(t)
	r.Kill(t)
	r.Restart(t)
	r.Stop(t)
	r.CrashImmediate(t)
	r.Restart(t)
	r.Stop(t) // and closed
}

func TestDatabasesOfPostgresAreSeparate(t *testing.T) {
	r := Postgres(t)
	var a, b string
	t.Run("while the test runs", func(t *testing.T) {
		a, b = r.Database(t), r.Database(t)
		require.NotEqual(t, a, b)
		r.SQL(t, a, "CREATE TABLE t AS SELECT 'of a' AS x")
		r.SQL(t, b, "CREATE TABLE t AS SELECT 'of b' AS x")
		require.Equal(t, "of a", r.SQL(t, a, "SELECT x FROM t"))
		require.Equal(t, "of b", r.SQL(t, b, "SELECT x FROM t"))
		require.Equal(t, "0", r.SQL(t, "postgres", "SELECT count(*) FROM pg_class WHERE relname = 't'"))
	})
	for _, url := range []string{a, b} {
		_, err := r.query(url, "SELECT 1")
		require.ErrorContains(t, err, "does not exist")
	}
}

func TestPostgresTakesSettings(t *testing.T) {
	r := NewPostgres(t, "-c", "max_prepared_transactions=3")
	require.Equal(t, "3", r.SQL(t, "postgres", "SHOW max_prepared_transactions"))
	require.Equal(t, "on", r.SQL(t, "postgres", "SHOW synchronous_commit"))
	for _, name := range []string{"psql", "pg_dump", "pg_restore"} {
		require.FileExists(t, r.Program(name))
	}
}

// parent is a test process that starts servers, prints their process ids, and waits to be killed.
func parent() {
	redis, err1 := StartRedis()
	postgres, err2 := StartPostgres()
	if err1 != nil || err2 != nil {
		panic(fmt.Sprint(err1, err2))
	}
	fmt.Println(redis.PID(), redis.dir, postgres.PID(), postgres.dir)
	select {}
}

func TestServersDieWithTheirParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can do this")
	}
	Redis(t)
	Postgres(t) // ends the test if they are not installed
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "SERVERS_TEST_PARENT=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	f := strings.Fields(line)
	require.Len(t, f, 4)
	defer os.RemoveAll(f[1])
	defer os.RemoveAll(f[3])
	postmaster, err := strconv.Atoi(f[2])
	require.NoError(t, err)
	children, err := childrenOf(postmaster)
	require.NoError(t, err)
	require.NotEmpty(t, children)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	pids := []string{f[0], f[2]}
	for _, pid := range children {
		pids = append(pids, strconv.Itoa(pid))
	}
	testkit.Eventually(t, func() bool {
		return !slices.ContainsFunc(pids, alive)
	}, "processes of %v are left", pids)
	require.NoFileExists(t, f[3]+"/data/postmaster.pid", "the process has not cleaned up")
}

// alive reports whether the process exists, except as a zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestSlotMovesWithItsKeys(t *testing.T) {
	c := Cluster(t)
	slot := c.Slot(t, "{x}1")
	from := c.Master(t, slot)
	from.CLI(t, "SET", "{x}1", "one")
	from.CLI(t, "SET", "{x}2", "two")
	to := c.Masters(t)[0]
	if to == from {
		to = c.Masters(t)[1]
	}
	moved := 0
	c.MoveSlot(t, slot, to, func() { moved++ })
	require.Equal(t, 2, moved)
	require.Same(t, to, c.Master(t, slot))
	require.Equal(t, "one", to.CLI(t, "GET", "{x}1"))
	require.Len(t, c.Addrs(), 6)
	require.Len(t, c.Masters(t), 3)
}

func TestStartThatFailsSaysWhy(t *testing.T) {
	_, err := startRedis(program(t, "redis-server", installRedis), "", "--no-such-setting", "1")
	require.ErrorContains(t, err, "Bad directive")
}

func TestPostgresThatDoesNotStartSaysWhy(t *testing.T) {
	_, err := fromTemplate(postgresOf(t), "-c", "no_such_setting=1")
	require.ErrorContains(t, err, "unrecognized configuration parameter")
}
