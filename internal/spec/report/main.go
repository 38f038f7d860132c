// Command report prints what each api-version of the specification has, and what this module has of it:
//
//	go run ./internal/spec/report
//
// A test of package spec counts it. What no function sends goes through search.Do, and what is not typed
// survives reading and writing.
package main

import (
	_ "embed" // report.md
	"fmt"
)

//go:embed report.md
var report string

func main() { fmt.Print(report) }
