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
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// timeout is the limit for a test without a change.
	timeout = 5 * time.Minute
	// shortest is the minimum limit for a test with a change; the limit is ten times the duration without it.
	shortest = 5 * time.Second
)

// program is a test program with all mutants that name it.
type program struct {
	pkg     string
	mutants []mutant
	dir     string // private directory
	overlay string // overlay file in dir, with the mutants
}

// programs calls do for each test program, those with the most mutants first, and returns the sum of the results.
// Tests mostly wait, so GOMAXPROCS programs run concurrently; the mutants of one program run in sequence.
func programs(mutants []mutant, do func(p program) (wrong int)) (wrong int, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	groups := map[string][]mutant{}
	for _, m := range mutants {
		groups[m.test[0]] = append(groups[m.test[0]], m)
	}
	next := make(chan program, len(groups)) // has room for all, so no send blocks
	largest := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	for i, pkg := range largest {
		next <- program{pkg: pkg, mutants: groups[pkg], dir: filepath.Join(dir, fmt.Sprint(i))}
	}
	close(next)
	var workers sync.WaitGroup
	var sum atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(groups)) {
		workers.Go(func() {
			for p := range next {
				err := os.Mkdir(p.dir, 0o700)
				if err == nil {
					p.overlay, err = embedAll(p.dir, p.mutants)
				}
				if err != nil {
					fmt.Println(err)
					sum.Add(int64(len(p.mutants)))
					continue
				}
				sum.Add(int64(do(p)))
			}
		})
	}
	workers.Wait()
	return int(sum.Load()), nil
}

// checkAll returns the number of mutants that cannot be applied, do not compile, or have no test.
func checkAll(mutants []mutant) (wrong int, err error) {
	wrong, err = programs(mutants, func(p program) (wrong int) {
		folders := map[string]bool{}
		for _, m := range p.mutants {
			folders["./"+filepath.Dir(m.file)] = true
			if err := m.findTest(); err != nil {
				wrong++
				fmt.Printf("%s: %v\n", m.name(), err)
			}
		}
		if err := compile(append([]string{"build", "-o=" + os.DevNull, "-overlay=" + p.overlay}, slices.Sorted(maps.Keys(folders))...)); err != nil {
			wrong++
			fmt.Println(err)
		}
		return wrong
	})
	if err == nil && wrong == 0 {
		fmt.Printf("%d mutants can be applied\n", len(mutants))
	}
	return wrong, err
}

// tryAll returns the number of mutants that survived.
func tryAll(mutants []mutant) (survivors int, err error) {
	survivors, err = programs(mutants, program.try)
	fmt.Printf("%d of %d mutants were killed\n", len(mutants)-survivors, len(mutants))
	return survivors, err
}

func (p program) try() (survivors int) {
	began := time.Now()
	err := compile([]string{"test", "-c", "-ldflags=-w", "-overlay=" + p.overlay, "-o=" + p.file(), p.pkg})
	if err != nil {
		fmt.Println(err)
		return len(p.mutants)
	}
	fmt.Printf("building the tests of %s took %.1f s\n", p.pkg, time.Since(began).Seconds())
	passed := map[string]result{}
	for _, m := range p.mutants {
		began := time.Now()
		test := strings.Join(m.test[1:], " ")
		if _, known := passed[test]; !known {
			passed[test] = p.without(m)
		}
		if err := p.kill(m, passed[test]); err != nil {
			survivors++
			fmt.Printf("%s: %v\n", m.name(), err)
			continue
		}
		fmt.Printf("%s: killed by %s, %.1f s\n", m.name(), m.test[1], time.Since(began).Seconds())
	}
	return survivors
}

// result is the result of a test without a change.
type result struct {
	took time.Duration
	err  error
}

func (p program) without(m mutant) (r result) {
	began := time.Now()
	out, err := p.run(m, "", timeout)
	r.took = time.Since(began)
	switch {
	case err != nil:
		r.err = fmt.Errorf("%s does not even pass without a breakage:\n%s", m.test[1], out)
	case strings.Contains(out, "no tests to run"):
		r.err = fmt.Errorf("there is no test %s in %s", m.test[1], p.pkg)
	}
	return r
}

// kill returns an error if the test passes with the mutant.
func (p program) kill(m mutant, without result) error {
	if without.err != nil {
		return without.err
	}
	_, err := p.run(m, m.name(), max(10*without.took, shortest))
	if err == nil {
		return fmt.Errorf("survived %s", m.test[1])
	}
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
		return err
	}
	return nil
}

func (p program) file() string { return filepath.Join(p.dir, "all.test") }

// run runs the test of m with the mutant of the given name, or without one for "".
func (p program) run(m mutant, name string, limit time.Duration) (output string, err error) {
	args := []string{"-test.count=1", "-test.failfast", "-test.timeout=" + limit.String(), "-test.run=" + m.pattern()}
	c := exec.Command(p.file(), append(args, m.test[2:]...)...)
	c.Dir = p.pkg
	c.Env = append(os.Environ(), chosenEnv+"="+name, "RAPID_SEED=1", "RAPID_SHRINKTIME=1ms", "RAPID_NOFAILFILE=true", "AZSEARCH_TEST_THOROUGH=1")
	out, err := c.CombinedOutput()
	return string(out), err
}

func compile(args []string) error {
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile:\n%s", out)
	}
	return nil
}
