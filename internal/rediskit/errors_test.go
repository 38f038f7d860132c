package rediskit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is an error of a server.
type said string

func (s said) Error() string { return string(s) }
func (s said) RedisError()   {}

// timeout is a time-out of a dial or read, as in package net.
type timeout struct{}

func (timeout) Error() string     { return "i/o timeout" }
func (timeout) Timeout() bool     { return true }
func (timeout) Temporary() bool   { return true }
func (timeout) Is(err error) bool { return err == context.DeadlineExceeded }

// get returns the error of a request and closes the client.
func get(t *testing.T, c redis.UniversalClient) error {
	t.Helper()
	err := c.Get(t.Context(), "x").Err()
	require.Error(t, err)
	require.NoError(t, c.Close())
	return err
}

func TestErrorsThatMayEndAreTransientAndOthersAreNot(t *testing.T) {
	closed := redis.NewClient(&redis.Options{})
	require.NoError(t, closed.Close())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		err       error
		transient bool
	}{
		"no error":                                          {nil, false},
		"a slot that has moved":                             {said("MOVED 3999 127.0.0.1:6381"), true},
		"a slot that moves":                                 {said("ASK 3999 127.0.0.1:6381"), true},
		"keys on both sides of a move":                      {said("TRYAGAIN Multiple keys request during rehashing of slot"), true},
		"a server that loads its data":                      {said("LOADING Redis is loading the dataset in memory"), true},
		"a replica":                                         {said("READONLY You can't write against a read only replica."), true},
		"a replica that runs Redis 7.0.0":                   {said("ERR Can not run script with write flag on readonly replica"), true},
		"a cluster that fails over":                         {said("CLUSTERDOWN Hash slot not served"), true},
		"a replica without its master":                      {said("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."), true},
		"a master without its replicas":                     {said("NOREPLICAS Not enough good replicas to write."), true},
		"a server that runs a long script":                  {said("BUSY Redis is busy running a script."), true},
		"a WAIT that a failover has ended":                  {said("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"), true},
		"too many clients":                                  {said("ERR max number of clients reached"), true},
		"the same, inside another error":                    {fmt.Errorf("marking keys: %w", said("ERR max number of clients reached")), true},
		"a full server":                                     {said("OOM command not allowed when used memory > 'maxmemory'."), false},
		"a disk that cannot be written to":                  {said("MISCONF Errors writing to the AOF file: No space left on device"), false},
		"a script that the server does not know":            {said("NOSCRIPT No matching script. Please use EVAL."), false},
		"a wrong password":                                  {said("WRONGPASS invalid username-password pair or user is disabled."), false},
		"a command that the server does not know":           {said("ERR unknown command 'connection' in a cluster"), false},
		"the refusal of a script":                           {said("AZQFULL"), false},
		"nothing there":                                     {redis.Nil, false},
		"a server that refuses connections":                 {get(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})), true},
		"a dial that has timed out":                         {&net.OpError{Op: "dial", Net: "tcp", Err: timeout{}}, true},
		"an answer that has timed out":                      {&net.OpError{Op: "read", Net: "tcp", Err: &net.DNSError{Err: "i/o timeout", IsTimeout: true}}, true},
		"a connection that was reset":                       {errors.New("read tcp 127.0.0.1:6379: connection reset by peer"), true},
		"a connection that was closed":                      {io.EOF, true},
		"a connection that was closed inside of an answer":  {io.ErrUnexpectedEOF, true},
		"a pool in which no connection got free":            {redis.ErrPoolTimeout, true},
		"a pool that is exhausted":                          {redis.ErrPoolExhausted, true},
		"a cluster without a known node":                    {get(t, redis.NewClusterClient(&redis.ClusterOptions{})), true},
		"a cluster whose nodes do not answer":               {get(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, MaxRedirects: -1, DialerRetries: 1})), true},
		"a master of a cluster that is not found":           {masterOf(t), true},
		"sentinels none of which answers":                   {get(t, redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}, MaxRetries: -1, DialerRetries: 1})), true},
		"sentinels that do not know the master":             {fmt.Errorf("redis: all sentinels specified in configuration are unreachable: %w", errors.Join(redis.Nil)), true},
		"a client that was closed":                          {closed.Get(t.Context(), "x").Err(), false},
		"a context that was canceled":                       {redis.NewClient(&redis.Options{}).Get(ended, "x").Err(), false},
		"a deadline that has passed":                        {fmt.Errorf("read: %w", context.DeadlineExceeded), false},
		"a read that has ended with the context's deadline": {&net.OpError{Op: "read", Net: "tcp", Err: timeout{}}, false},
		"a mistake of the program":                          {errors.New("redis: can't marshal struct {}"), false},
	} {
		assert.Equal(t, row.transient, Transient(row.err), "%s: %v", name, row.err)
	}
}

func masterOf(t *testing.T) error {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{})
	_, err := Master(t.Context(), c, "x")
	require.Error(t, err)
	require.NoError(t, c.Close())
	return err
}

func TestARefusalIsItsCodeAndTheRest(t *testing.T) {
	for text, want := range map[string][2]string{
		"AZQLOST {azq:q:0}:m":     {"AZQLOST", "{azq:q:0}:m"},
		"ERR AZQLOST {azq:q:0}:m": {"AZQLOST", "{azq:q:0}:m"},
		"AZQFULL":                 {"AZQFULL", ""},
	} {
		code, rest := Refusal(fmt.Errorf("redisqueue: %w", said(text)))
		assert.Equal(t, want, [2]string{code, rest})
	}
	code, _ := Refusal(errors.New("AZQFULL"))
	assert.Empty(t, code, "not an error of a server")
}

// scripted is a client whose scripts return these errors in turn and then "done".
type scripted struct {
	redis.UniversalClient
	errs    []error
	before  func(left int) // called before each attempt; nil: nothing
	reloads int
}

func (c *scripted) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	if c.before != nil {
		c.before(len(c.errs))
	}
	if len(c.errs) == 0 {
		cmd.SetVal("done")
		return cmd
	}
	cmd.SetErr(c.errs[0])
	c.errs = c.errs[1:]
	return cmd
}

func (c *scripted) ReloadState(context.Context) { c.reloads++ }

var script = Writes.Load(files, "read")

func TestRunRepeatsTransientErrorsAndReportsWhatMayHaveBeenApplied(t *testing.T) {
	moved, broken := said("MOVED 1 127.0.0.1:1"), said("MISCONF Errors writing to the AOF file")
	for name, row := range map[string]struct {
		errs    []error
		err     error
		unsure  bool
		reloads int
	}{
		"an answer":                          {nil, nil, false, 0},
		"the answer nil":                     {[]error{redis.Nil}, nil, false, 0},
		"a moved slot, then an answer":       {[]error{moved, moved}, nil, false, 2},
		"a lost answer, then an answer":      {[]error{io.EOF}, nil, true, 1},
		"a refusal that stays":               {[]error{broken}, broken, false, 0},
		"a lost answer, then a refusal":      {[]error{io.EOF, broken}, broken, true, 1},
		"an error that is neither of these":  {[]error{redis.ErrClosed}, redis.ErrClosed, true, 0},
		"a moved slot, then a closed client": {[]error{moved, redis.ErrClosed}, redis.ErrClosed, true, 1},
		"a slot that moves for too long":     {[]error{moved, moved, moved, moved, moved, moved, moved, moved, moved, moved}, moved, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &scripted{errs: row.errs}
			r := Runner{Client: c}
			if len(row.errs) > 5 {
				r.Patience = time.Millisecond
			}
			answer, unsure, err := r.Run(t.Context(), script, []string{"k"})
			require.ErrorIs(t, err, row.err)
			assert.Equal(t, row.unsure, unsure)
			if row.err == nil && name != "the answer nil" {
				assert.Equal(t, "done", answer)
			} else {
				assert.Nil(t, answer)
			}
			if r.Patience == 0 {
				assert.Equal(t, row.reloads, c.reloads)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	var moved []error
	for range 100 {
		moved = append(moved, said("MOVED 1 127.0.0.1:1"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r := Runner{Client: &scripted{errs: moved}}
	_, _, err := r.Run(ctx, script, []string{"k"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, moved[0], "the reason is named, too")
	_, unsure, err := r.Run(ctx, script, []string{"k"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.False(t, unsure, "nothing was sent")
}

// The context cut the last attempt, which has no reason of its own.
func TestAnAttemptThatIsCutSaysWhyThereWasOneBefore(t *testing.T) {
	refused := said("READONLY You can't write against a read only replica.")
	ctx, cancel := context.WithCancel(t.Context())
	c := &scripted{errs: []error{refused, context.Canceled}, before: func(left int) {
		if left == 1 {
			cancel()
		}
	}}
	_, _, err := (&Runner{Client: c}).Run(ctx, script, []string{"k"})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, refused)
}

func TestAPasswordThatIsWantedIsNamed(t *testing.T) {
	long := said("ERR Protocol error: unauthenticated multibulk length")
	require.ErrorContains(t, Explain(long), "server wants a password (NOAUTH)")
	require.ErrorIs(t, Explain(long), long)
}

func TestADiskThatCannotBeWrittenToIsNamed(t *testing.T) {
	disk := said("MISCONF Redis is configured to persist data to AOF, but it's currently unable to persist to disk.")
	require.ErrorContains(t, Explain(disk), "server refuses writes because it cannot save to its disk; free the disk")
	require.ErrorIs(t, Explain(disk), disk)
	require.NoError(t, Explain(nil))
	require.Equal(t, io.EOF, Explain(io.EOF))
}
