package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// timeout is how long a test may take without a breakage …
	timeout = 5 * time.Minute
	// … and with one it counts as hanging after ten times as long as without, but
	// not before:
	shortest = 5 * time.Second
)

// tryAll returns how many mutants were not killed.
func tryAll(mutants []mutant) (survivors int, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	insertions := map[string][]insertion{}
	alone := make([]bool, len(mutants))
	for i, m := range mutants {
		text, ok, err := m.embed(i)
		if err != nil {
			return 0, fmt.Errorf("%s:%d: %w", m.list, m.line, err)
		}
		if alone[i] = !ok; ok {
			insertions[m.file] = append(insertions[m.file], text)
		}
	}
	all, err := together(dir, insertions)
	if err != nil {
		return 0, err
	}
	overlay, err := all.write()
	if err != nil {
		return 0, err
	}
	// Most tests wait, so as many programs run at a time as there are processors; the mutants
	// of one program follow each other.
	groups := map[string][]int{}
	for i, m := range mutants {
		groups[m.program()] = append(groups[m.program()], i)
	}
	largest := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	next := make(chan int, len(largest))
	for number := range largest {
		next <- number
	}
	close(next)
	var workers sync.WaitGroup
	var survived atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(largest)) {
		workers.Go(func() {
			for number := range next {
				r := runner{dir: filepath.Join(dir, fmt.Sprint("group", number)), all: overlay, passed: map[string]result{}}
				for _, i := range groups[largest[number]] {
					m, began := mutants[i], time.Now()
					if err := r.try(m, i, alone[i]); err != nil {
						survived.Add(1)
						fmt.Printf("%s:%d: %v\n", m.list, m.line, err)
						continue
					}
					fmt.Printf("%s:%d: killed by %s, %.1f s\n", m.list, m.line, m.test[1], time.Since(began).Seconds())
				}
			}
		})
	}
	workers.Wait()
	survivors = int(survived.Load())
	fmt.Printf("%d of %d mutants were killed\n", len(mutants)-survivors, len(mutants))
	return survivors, nil
}

// program names the test program of the mutant: its package, and -race.
func (m mutant) program() string {
	if slices.Contains(m.test, "-race") {
		return m.test[0] + " -race"
	}
	return m.test[0]
}

// runner builds one test program and runs it.
type runner struct {
	dir     string            // of its own
	all     string            // the overlay with all mutants that can be built together
	program string            // empty until it was built
	built   error             // the same
	passed  map[string]result // by test: how it goes without a breakage
}

type result struct {
	took time.Duration
	err  error
}

// try returns an error if the test does not notice the breakage.
func (r *runner) try(m mutant, number int, alone bool) error {
	program, err := r.build(m)
	if err != nil {
		return err
	}
	name := strings.Join(m.test, " ")
	without, known := r.passed[name]
	if !known {
		began := time.Now()
		out, err := r.run(program, m, "", timeout)
		without.took = time.Since(began)
		switch {
		case err != nil:
			without.err = fmt.Errorf("%s does not even pass without a breakage:\n%s", name, out)
		case strings.Contains(out, "no tests to run"):
			without.err = fmt.Errorf("there is no test %s in %s", m.test[1], m.test[0])
		}
		r.passed[name] = without
	}
	if without.err != nil {
		return without.err
	}
	if alone {
		if program, err = r.alone(m, number); err != nil {
			return err
		}
		defer os.Remove(program)
	}
	_, err = r.run(program, m, strconv.Itoa(number), max(10*without.took, shortest))
	var failed *exec.ExitError
	switch {
	case err == nil:
		return fmt.Errorf("survived %s", name)
	case !errors.As(err, &failed):
		return err
	}
	return nil
}

// build builds the test of the mutant's package, once.
func (r *runner) build(m mutant) (program string, err error) {
	if r.program != "" {
		return r.program, r.built
	}
	r.program = filepath.Join(r.dir, "all.test")
	if r.built = os.Mkdir(r.dir, 0o700); r.built != nil {
		return "", r.built
	}
	began := time.Now()
	r.built = build(m, r.all, r.program)
	fmt.Printf("building the tests of %s took %.1f s\n", m.program(), time.Since(began).Seconds())
	return r.program, r.built
}

// alone builds the test with one mutant, which cannot be built together with others.
func (r *runner) alone(m mutant, number int) (program string, err error) {
	dir := filepath.Join(r.dir, strconv.Itoa(number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	o := &overlay{dir: dir, replaced: map[string]string{}}
	_, broken, err := m.apply()
	if err != nil {
		return "", err
	}
	if err := o.add(m.file, broken); err != nil {
		return "", err
	}
	file, err := o.write()
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "alone.test")
	return program, build(m, file, program)
}

func build(m mutant, overlay, program string) error {
	args := []string{"test", "-c", "-overlay=" + overlay, "-o=" + program}
	if slices.Contains(m.test, "-race") {
		args = append(args, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false") // without the C of SQLite, as in .ci/run
	}
	out, err := exec.Command("go", append(args, m.test[0])...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("does not compile:\n%s", out)
	}
	return nil
}

// run runs the test with the mutant of that number, or with none.
func (r *runner) run(program string, m mutant, number string, limit time.Duration) (output string, err error) {
	args := []string{"-test.count=1", "-test.failfast", "-test.timeout=" + limit.String(), "-test.run=" + m.pattern()}
	for _, flag := range m.test[2:] {
		if flag != "-race" { // the program was built with it
			args = append(args, flag)
		}
	}
	c := exec.Command(program, args...)
	c.Dir = m.test[0]
	c.Env = append(os.Environ(), chosenEnv+"="+number, "RAPID_SEED=1", "RAPID_SHRINKTIME=1ms", "RAPID_NOFAILFILE=true")
	out, err := c.CombinedOutput()
	return string(out), err
}
