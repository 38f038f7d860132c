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
	file    string // executable
}

// overlay is all mutants that can be applied, in one set of modified files: a package is compiled once for all test
// programs.
type overlay struct {
	dir     string // temporary
	file    string // for go build -overlay
	mutants []mutant
}

// newOverlay prints and counts the mutants that cannot be applied. The caller removes the directory.
func newOverlay(mutants []mutant) (o overlay, wrong int, err error) {
	insertions := map[string][]insertion{}
	for _, m := range mutants {
		i, err := m.embed()
		if err != nil {
			wrong++
			fmt.Printf("%s: %v\n", m.name(), err)
			continue
		}
		o.mutants = append(o.mutants, m)
		insertions[m.file] = append(insertions[m.file], i)
	}
	if o.dir, err = os.MkdirTemp("", "mutate"); err != nil {
		return o, wrong, err
	}
	o.file, err = embedAll(o.dir, insertions)
	return o, wrong, err
}

func (o overlay) remove() { _ = os.RemoveAll(o.dir) } // in the directory for temporary files

// programs returns the test programs, those with the most mutants first.
func (o overlay) programs() []program {
	groups := map[string][]mutant{}
	for _, m := range o.mutants {
		groups[m.test[0]] = append(groups[m.test[0]], m)
	}
	largest := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	all := make([]program, len(largest))
	same := map[string]int{} // number of packages with the name so far
	for i, pkg := range largest {
		name := filepath.Base(pkg)
		all[i] = program{pkg, groups[pkg], filepath.Join(o.dir, fmt.Sprint(same[name]), name+".test")}
		same[name]++
	}
	return all
}

// build builds the programs. One run of the go command writes those of packages with different names.
func (o overlay) build(all []program) error {
	byDir := map[string][]string{}
	for _, p := range all {
		dir := filepath.Dir(p.file)
		byDir[dir] = append(byDir[dir], p.pkg)
	}
	for dir, packages := range byDir {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		args := []string{"test", "-c", "-ldflags=-w", "-overlay=" + o.file, "-o=" + dir}
		if err := compile(append(args, packages...)); err != nil {
			return err
		}
	}
	return nil
}

// checkAll returns the number of mutants that cannot be applied, do not compile, or have no test.
func checkAll(mutants []mutant) (wrong int, err error) {
	o, wrong, err := newOverlay(mutants)
	defer o.remove()
	if err != nil {
		return wrong, err
	}
	folders := map[string]bool{}
	for _, m := range o.mutants {
		folders["./"+filepath.Dir(m.file)] = true
		if err := m.findTest(); err != nil {
			wrong++
			fmt.Printf("%s: %v\n", m.name(), err)
		}
	}
	if err := compile(append([]string{"build", "-o=" + os.DevNull, "-overlay=" + o.file}, slices.Sorted(maps.Keys(folders))...)); err != nil {
		wrong++
		fmt.Println(err)
	}
	if wrong == 0 {
		fmt.Printf("%d mutants can be applied\n", len(mutants))
	}
	return wrong, nil
}

// tryAll returns the number of mutants that survived. Tests mostly wait, so GOMAXPROCS programs run concurrently; the
// mutants of one program run in sequence.
func tryAll(mutants []mutant) (survivors int, err error) {
	o, survivors, err := newOverlay(mutants)
	defer o.remove()
	if err != nil {
		return survivors, err
	}
	all := o.programs()
	began := time.Now()
	if err := o.build(all); err != nil {
		fmt.Println(err)
		return len(mutants), nil
	}
	fmt.Printf("building %d test programs took %.0f s\n", len(all), time.Since(began).Seconds())
	next := make(chan program, len(all)) // has room for all, so no send blocks
	for _, p := range all {
		next <- p
	}
	close(next)
	var workers sync.WaitGroup
	var sum atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		workers.Go(func() {
			for p := range next {
				sum.Add(int64(p.try()))
			}
		})
	}
	workers.Wait()
	survivors += int(sum.Load())
	fmt.Printf("%d of %d mutants were killed\n", len(mutants)-survivors, len(mutants))
	return survivors, nil
}

func (p program) try() (survivors int) {
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

// run runs the test of m with the mutant of the given name, or without one for "".
func (p program) run(m mutant, name string, limit time.Duration) (output string, err error) {
	args := []string{"-test.count=1", "-test.failfast", "-test.timeout=" + limit.String(), "-test.run=" + m.pattern()}
	c := exec.Command(p.file, append(args, m.test[2:]...)...)
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
