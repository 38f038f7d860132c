package filequeue

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// otherProcessDir names the directory in which the test binary, run as another process, appends
// and settles until it is killed.
const otherProcessDir = "AZSEARCH_TEST_FILEQUEUE_DIR"

// killsEnv is how often it is killed, 20 times by default.
const killsEnv = "AZSEARCH_TEST_FILEQUEUE_KILLS"

// killsOfTest is that number.
var killsOfTest = 20

const keysOfProcess = 40

// otherProcess is that process. It reports "a KEY VERSION" when an Append was acknowledged, and
// "c KEY VERSION" when a Settle was. It returns if something fails only.
func otherProcess(dir string) error {
	q, err := Open(dir, &Options{SegmentBytes: 64 << 10})
	if err != nil {
		return err
	}
	a := newAdder(q)
	r := seeded(uint64(os.Getpid()))
	for {
		version := int(time.Now().UnixNano())
		var records []queue.Record
		for range 1 + r.IntN(5) {
			records = append(records, upload(fmt.Sprint("key", r.IntN(keysOfProcess)), version))
		}
		if err := a.append(context.Background(), records...); err != nil {
			return err
		}
		for _, rec := range records {
			fmt.Printf("a %s %d\n", rec.Key, version)
		}
		leases, err := q.Reserve(context.Background(), want(3))
		if err != nil {
			return err
		}
		if r.IntN(3) > 0 {
			if _, _, err = q.Settle(context.Background(), commits(leases)...); err != nil {
				return err
			}
			for _, l := range leases {
				fmt.Printf("c %s %d\n", l.Key, versionOf(string(l.Records[len(l.Records)-1].Body)))
			}
		}
	}
}

func TestAProcessThatIsKilledLosesNothingThatItAcknowledged(t *testing.T) {
	kills := killsOfTest
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	} else if testing.Short() {
		kills = 3
	}
	dir := filepath.Join(t.TempDir(), "queue")
	appended, committed := map[string]int{}, map[string]int{}
	lines := 0
	for range kills {
		lines += killAfter(t, dir, 100, appended, committed)
		q, err := Open(dir, nil)
		require.NoError(t, err)
		now := contents(t, q)
		for key, version := range appended {
			switch bodies := now[key]; {
			case len(bodies) == 0: // the last line of the pipe may be missing, so a commit may not have been heard of
			case committed[key] >= version:
				require.Greater(t, versionOf(strings.TrimPrefix(bodies[len(bodies)-1], "upload")), committed[key], "a commit that was acknowledged is not forgotten by a kill")
			default:
				require.GreaterOrEqual(t, versionOf(strings.TrimPrefix(bodies[len(bodies)-1], "upload")), version)
			}
		}
		requireGone(t, now, appended, committed)
		require.NoError(t, q.Close())
	}
	t.Logf("%d kills, %d reports", kills, lines)
	require.Greater(t, lines, kills*50)
}

// requireGone allows the keys of one Settle to be gone although nobody has heard of it.
func requireGone(t *testing.T, now map[string][]string, appended, committed map[string]int) {
	t.Helper()
	unheard := 0
	for key, version := range appended {
		if len(now[key]) == 0 && committed[key] < version {
			unheard++
			committed[key] = version
		}
	}
	require.LessOrEqual(t, unheard, 3, "the keys of the last Settle")
}

// killAfter runs the other process, and kills it when it has reported so often.
func killAfter(t *testing.T, dir string, reports int, appended, committed map[string]int) (lines int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), otherProcessDir+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		var what, key string
		var version int
		if n, _ := fmt.Sscanf(scanner.Text(), "%s %s %d", &what, &key, &version); n < 3 {
			continue
		}
		if lines++; lines == reports {
			require.NoError(t, cmd.Process.Kill())
		}
		if what == "a" {
			appended[key] = max(appended[key], version)
		} else {
			committed[key] = max(committed[key], version)
		}
	}
	require.Error(t, cmd.Wait(), "it was killed")
	return lines
}
