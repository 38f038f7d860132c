package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// place is a database of PostgreSQL, for one measurement.
type place struct {
	p    *plan
	name string
	url  string
}

// postgres makes an empty database, on a server that all measurements share. Whoever asks calls drop.
func (p *plan) postgres(ctx context.Context) (*place, error) {
	if p.server == nil {
		var args []string
		if p.statements {
			args = []string{"-c", "shared_preload_libraries=pg_stat_statements"}
		}
		s, err := servers.StartPostgres(args...)
		if err != nil {
			return nil, err
		}
		p.server = s
	}
	l := &place{p: p, name: "bench_" + fmt.Sprintf("%x", [8]byte(randomBytes()))}
	l.url = p.server.URL(l.name)
	// What was written by others is on the disk. Not later, or each page that changes would be written to the log as
	// a whole, as it is in no database that is written to all the time.
	for _, s := range []string{"CREATE DATABASE " + l.name, "CHECKPOINT"} {
		if err := l.admin(ctx, s); err != nil {
			return nil, err
		}
	}
	if p.statements {
		return l, l.on(ctx, l.url, "CREATE EXTENSION pg_stat_statements")
	}
	return l, nil
}

func (l *place) admin(ctx context.Context, statement string) error {
	return l.on(ctx, l.p.server.URL("postgres"), statement)
}

func (l *place) on(ctx context.Context, url, statement string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

// exec runs statements in the database.
func (l *place) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := l.on(ctx, l.url, s); err != nil {
			return fmt.Errorf("%w: %s", err, s)
		}
	}
	return nil
}

func (l *place) drop(ctx context.Context) error {
	return l.admin(context.WithoutCancel(ctx), "DROP DATABASE "+l.name+" WITH (FORCE)")
}

// meter measures this process and the server, if there is one.
type meter struct {
	l      *place
	clock  measure.Clock
	before float64
}

// start begins to measure.
func (l *place) start(ctx context.Context) (*meter, error) {
	m := &meter{l: l}
	if l != nil {
		if l.p.statements {
			if err := l.exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
				return nil, err
			}
		}
		var err error
		if m.before, err = familyCPU(l.p.server.PID()); err != nil {
			return nil, err
		}
	}
	m.clock.Start()
	return m, nil
}

// stop returns what n of something have cost.
func (m *meter) stop(ctx context.Context, n int) ([]figure, error) {
	u := m.clock.Stop()
	per := 1e6 / float64(n)
	rate := figure{rateFigure, float64(n) / u.Seconds}
	if m.l == nil {
		return []figure{{cpuFigure, u.CPUSeconds * per}, rate}, nil
	}
	after, err := familyCPU(m.l.p.server.PID())
	if err != nil {
		return nil, err
	}
	if m.l.p.statements {
		if err := m.l.tell(ctx); err != nil {
			return nil, err
		}
	}
	return []figure{{cpuFigure, (u.CPUSeconds + after - m.before) * per}, {"of these the server", (after - m.before) * per}, rate}, nil
}

// tell writes what the server has run.
func (l *place) tell(ctx context.Context) error {
	c, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	rows, err := c.Query(ctx, `SELECT calls, total_exec_time, rows, shared_blks_hit, wal_bytes::bigint, left(regexp_replace(query, '\s+', ' ', 'g'), 120)
		FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY total_exec_time DESC LIMIT 10`)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.p.stderr, "%8s %10s %9s %10s %12s\n", "calls", "ms", "rows", "buffers", "WAL bytes")
	var calls, n, hit, wal int64
	var ms float64
	var query string
	_, err = pgx.ForEachRow(rows, []any{&calls, &ms, &n, &hit, &wal, &query}, func() error {
		fmt.Fprintf(l.p.stderr, "%8d %10.1f %9d %10d %12d  %s\n", calls, ms, n, hit, wal, query)
		return nil
	})
	return err
}

// familyCPU returns how many seconds of processor time a process and its children have used, those
// that have ended too, in steps of a hundredth. It needs a /proc.
func familyCPU(pid int) (float64, error) {
	for {
		_, before, err := ticksOf(pid)
		if err != nil {
			return 0, err
		}
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return 0, err
		}
		sum := 0
		for _, path := range stats {
			of, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // all digits
			parent, t, err := ticksOf(of)
			if err != nil || of != pid && parent != pid {
				continue // it has ended, or belongs to others
			}
			sum += t.own
			if of == pid {
				sum += t.ended
			}
		}
		_, after, err := ticksOf(pid)
		if err != nil {
			return 0, err
		}
		if before.ended == after.ended { // otherwise one may count twice, or not at all
			return float64(sum) / 100, nil
		}
	}
}

// ticks is what a process has used, and what its children that have ended.
type ticks struct{ own, ended int }

func ticksOf(pid int) (parent int, t ticks, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, t, err
	}
	// Behind the name, which is in parentheses and may hold any: state, parent, then numbers.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return 0, t, fmt.Errorf("/proc/%d/stat makes no sense: %q", pid, b)
	}
	var n [15]int
	for _, i := range []int{1, 11, 12, 13, 14} {
		if n[i], err = strconv.Atoi(fields[i]); err != nil {
			return 0, t, fmt.Errorf("/proc/%d/stat makes no sense: %w", pid, err)
		}
	}
	return n[1], ticks{n[11] + n[12], n[13] + n[14]}, nil
}
