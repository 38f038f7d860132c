// Command report prints, for each api-version, the size of the specification and the part that this module covers:
//
//	go run ./internal/spec/report
//
// A test of package spec checks the numbers. Operations without a function can be sent with search.Do, and members
// without a field survive reading and writing.
package main

import (
	_ "embed" // report.md
	"fmt"
)

//go:embed report.md
var report string

func main() { fmt.Print(report) }
