// Command mutate is for whoever doubts that the tests would notice: it applies
// each breakage of a MUTANTS.md and checks that the test named there fails.
//
//	go run ./internal/mutate retry/MUTANTS.md
//
// With -check it runs no test: it only sees that each breakage can still be
// applied and compiles, and that its test exists. With -line N it tries the one
// whose block begins at that line.
//
// A breakage is a fenced block marked "mutant":
//
//	file: pending.go
//	- 	if busy {
//	+ 	if false {
//	test: ./bufferedsender/test/outcomes TestModel
//
// The file is named from the folder of the MUTANTS.md; the lines after "- " must
// occur in it exactly once, and inside one function. Nothing is written to the
// tree: the compiler is given the changed files as an overlay. After the package
// and the test may follow flags of the test program. What a test draws at random
// with rapid begins at a fixed seed, so that a mutant does not survive by chance.
//
// Each test is run once without any breakage, and has to pass. A breakage may
// make it hang: that counts after ten times as long as it took without.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

// most is how many mutants all lists may have. Each is a sentence about the code
// that every change of its line has to carry along.
const most = 150

func main() {
	only := flag.Int("line", 0, "try only the mutant whose block starts at this line")
	check := flag.Bool("check", false, "run no test: only see that each mutant can still be applied and compiles, and that its test exists")
	flag.Parse()
	var mutants []mutant
	for _, list := range flag.Args() {
		more, err := parse(list)
		if err != nil {
			fail(err)
		}
		mutants = append(mutants, more...)
	}
	if *only != 0 {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return m.line != *only })
	}
	if err := count(len(mutants)); err != nil {
		fail(err)
	}
	do := tryAll
	if *check {
		do = checkAll
	}
	wrong, err := do(mutants)
	if err != nil {
		fail(err)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func count(mutants int) error {
	switch {
	case mutants == 0:
		return fmt.Errorf("mutate: got no mutants; name a MUTANTS.md with ```mutant blocks, and with -line the line of one")
	case mutants > most:
		return fmt.Errorf("mutate: too many mutants: got %d, want at most %d; "+
			"delete those whose argument another one guards, or that a table of cases shows (CONTRIBUTING.md, Mutants)", mutants, most)
	}
	return nil
}
