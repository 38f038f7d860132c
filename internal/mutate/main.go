// Command mutate is for whoever doubts that the tests would notice: it applies
// each breakage of a MUTANTS.md and checks that the test named there fails.
//
//	go run ./internal/mutate retry/MUTANTS.md
//
// With -check it runs no test: it only sees that each breakage can still be
// applied and compiles, and that its test exists. With -line N it tries the one
// whose block begins at that line, with -part 2/3 every third, from the second on.
//
// A breakage is a fenced block marked "mutant":
//
//	file: pending.go
//	- 	if busy {
//	+ 	if false {
//	test: ./bufferedsender/test TestModel
//
// The file is named from the folder of the MUTANTS.md; the lines after "- " must
// occur in it exactly once. Nothing is written to the tree: the compiler is
// given the changed files as an overlay. After the package and the test may
// follow -race and flags of the test program. What a test draws at random with
// rapid begins at a fixed seed, so that a mutant does not survive by chance.
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

func main() {
	only := flag.Int("line", 0, "run only the mutant whose block starts at this line")
	part := flag.String("part", "1/1", "run only this part of the mutants: 2/3 is every third of them, from the second on")
	check := flag.Bool("check", false, "run no test: only see that each mutant can still be applied and compiles, and that its test exists")
	flag.Parse()
	var mutants []mutant
	for _, list := range flag.Args() {
		more, err := parse(list)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		mutants = append(mutants, more...)
	}
	if *only != 0 {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return m.line != *only })
	}
	mutants, err := partOf(mutants, *part)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(mutants) == 0 {
		fmt.Fprintln(os.Stderr, "no mutants: name a MUTANTS.md with ```mutant blocks, and with -line the line of one")
		os.Exit(2)
	}
	var wrong int
	if *check {
		wrong = checkAll(mutants)
	} else {
		wrong, err = tryAll(mutants)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// partOf returns every nth mutant from the kth on, for "k/n".
func partOf(mutants []mutant, part string) (some []mutant, err error) {
	var k, n int
	if _, err := fmt.Sscanf(part+"\n", "%d/%d\n", &k, &n); err != nil || k < 1 || k > n {
		return nil, fmt.Errorf("-part is %q: give a number, a slash and how many parts there are, 2/3 for example", part)
	}
	for i := k - 1; i < len(mutants); i += n {
		some = append(some, mutants[i])
	}
	return some, nil
}

// checkAll returns how many mutants cannot be applied any more.
func checkAll(mutants []mutant) (wrong int) {
	var c compiler
	for _, m := range mutants {
		_, broken, err := m.apply()
		if err == nil {
			err = c.compile(m.file, broken)
		}
		if err == nil {
			err = m.findTest()
		}
		if err != nil {
			wrong++
			fmt.Printf("%s:%d: %v\n", m.list, m.line, err)
		}
	}
	if wrong > 0 {
		fmt.Printf("%d of %d mutants cannot be applied any more\n", wrong, len(mutants))
		return wrong
	}
	fmt.Printf("%d mutants can be applied\n", len(mutants))
	return 0
}
