// Package queuekill tests durable back ends of package queue. A process that appends, reserves and settles is killed
// repeatedly; after each kill the content of the queue is compared with what the process had reported.
//
//	func TestMain(m *testing.M) {
//		if dir := os.Getenv("QUEUE"); dir != "" {
//			panic(queuekill.Work(open(dir), os.Stdout)) // the test binary, run as the other process
//		}
//		…
package queuekill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// Env is the environment variable with the number of kills in tests; set by the soak.
const Env = "AZSEARCH_TEST_KILLS"

// Kills returns the number of kills for a test: usual, a few in short mode, or the value of Env.
func Kills(usual int) int {
	if n, err := strconv.Atoi(os.Getenv(Env)); err == nil {
		return n
	}
	if testing.Short() {
		return min(usual, 3)
	}
	return usual
}

const (
	keys = 40
	// reserved is how many keys a reservation has, and so how many may have been settled without a report.
	reserved = 3
	// reports is the number of reports after which a process is killed.
	reports = 100
)

// Work runs in the process that is killed. It reports "a KEY VERSION" after each acknowledged Append, and "c KEY
// VERSION" after each acknowledged Settle. It returns only if a call fails.
func Work(q queue.Queue, out io.Writer) error {
	ctx := context.Background()
	call, holder := queue.Call{Adder: queue.NewID()}, queue.NewID()
	for {
		version := int(time.Now().UnixNano())
		call.Number++
		call.Records = nil
		for range 1 + rand.IntN(5) {
			call.Records = append(call.Records, queue.Record{
				Key: fmt.Sprint("key", rand.IntN(keys)), Op: models.ActionTypeUpload, Body: strconv.AppendInt(nil, int64(version), 10),
			})
		}
		if _, err := q.Append(ctx, call); err != nil {
			return err
		}
		for i := range call.Records {
			fmt.Fprintf(out, "a %s %d\n", call.Records[i].Key, version)
		}
		leases, err := q.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: holder, Keys: reserved, Bytes: 1 << 20, For: time.Minute})
		if err != nil {
			return err
		}
		if rand.IntN(3) == 0 {
			continue // the holder keeps them until it dies
		}
		ends := make([]queue.End, len(leases))
		for i := range leases {
			ends[i] = queue.End{Lease: leases[i], Fate: queue.Commit}
		}
		if _, _, err = q.Settle(ctx, ends...); err != nil {
			return err
		}
		for _, l := range leases {
			fmt.Fprintf(out, "c %s %s\n", l.Key, l.Records[len(l.Records)-1].Body)
		}
	}
}

// Ledger holds the reports of all processes so far, by key.
type Ledger struct {
	appended, committed map[string]int
	// Reports is the number of reports.
	Reports int
}

// Kill starts the process, kills it during its work, and reads its reports.
func (l *Ledger) Kill(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if l.appended == nil {
		l.appended, l.committed = map[string]int{}, map[string]int{}
	}
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var what, key string
		var version int
		if read, _ := fmt.Sscanf(lines.Text(), "%s %s %d", &what, &key, &version); read < 3 {
			continue // the process died in the middle of a line
		}
		if n++; n == reports {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if what == "a" {
			l.appended[key] = max(l.appended[key], version)
		} else {
			l.committed[key] = max(l.committed[key], version)
		}
	}
	l.Reports += n
	if err := cmd.Wait(); err == nil || n < reports {
		t.Fatalf("the process ended after %d reports, before the kill: %v", n, err)
	}
}

// Check compares the reports with the content of the queue after the last kill.
func (l *Ledger) Check(t testing.TB, q queue.Admin) {
	t.Helper()
	entries, err := q.Inspect(context.Background(), queue.Inspection{Limit: 1 << 20, Bodies: true})
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]int{}
	for i := range entries {
		e := &entries[i]
		for _, some := range [][]queue.Record{e.Parked, e.Leased, e.Waiting} {
			for j := range some {
				version, err := strconv.Atoi(string(some[j].Body))
				if err != nil {
					t.Fatalf("%s has a body that was never appended: %q", e.Key, some[j].Body)
				}
				newest[e.Key] = max(newest[e.Key], version)
			}
		}
	}
	unheard := 0
	for key, version := range l.appended {
		there, committed := newest[key], l.committed[key]
		switch {
		case there == 0 && committed < version:
			// The report of its Settle may be missing: the process died before it.
			unheard++
			l.committed[key] = version
		case there != 0 && there <= committed:
			t.Fatalf("%s: version %d is back, and %d was committed", key, there, committed)
		case there != 0 && there < version:
			t.Fatalf("%s: version %d was acknowledged, and %d is there", key, version, there)
		}
	}
	if unheard > reserved {
		t.Fatalf("%d keys are gone without a report of their commit, want at most %d, the size of a Settle", unheard, reserved)
	}
}
