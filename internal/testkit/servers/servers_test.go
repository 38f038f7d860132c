package servers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestMissingProgramFailsWhereServersAreRequired(t *testing.T) {
	for value, ends := range map[string]string{"required": "failed", "": "skipped"} {
		t.Setenv(Required, value)
		fake := &ending{TB: t}
		program(fake, "no-such-program-anywhere", "install it")
		require.Equal(t, ends, fake.how)
	}
}

// ending notes how a test would have ended.
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
	require.Eventually(t, func() bool { return r.ping() == nil }, patience, 10*time.Millisecond)
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
