package spec_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
)

// TestTheReportIsThatOfTheTree counts what each version has and what this module has of it, as the other
// tests find it, and compares that with the report that go run ./internal/spec/report prints.
func TestTheReportIsThatOfTheTree(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	ours := read(t)
	tests, err := os.ReadFile("../../search/operations_test.go")
	require.NoError(t, err)
	sent, _, found := bytes.Cut(tests, []byte("\nvar unsent"))
	require.True(t, found)
	var b strings.Builder
	b.WriteString("| api-version | operations | sent by a function | models | properties | typed | enum values | constants |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, version := range s.Versions {
		in := func(set spec.Set) bool { return strings.Contains(string(set), fmt.Sprint(i)) }
		var operations, functions, models, members, typed, values, constants int
		for route, o := range s.Operations {
			if in(o.In) {
				operations++
				functions += ones(regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(fmt.Sprintf("%q:", route))).Match(sent))
			}
		}
		for name, model := range s.Models {
			if !in(model.In) {
				continue
			}
			models++
			for wire, p := range model.Properties {
				if in(p.In()) {
					members++
					_, union := discriminated(s, name, wire)
					typed += ones(union || ours.has(name, wire))
				}
			}
		}
		for _, enum := range s.Enums {
			for value, set := range enum {
				if in(spec.Set(set)) {
					values++
					constants += ones(slices.ContainsFunc([]string{"models", "indexers", "skills", "knowledge", "search"}, func(p string) bool { return ours.constants[p][value] }))
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", version, operations, functions, models, members, typed, values, constants)
	}
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile("report/report.md", []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile("report/report.md")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "rewrite it with -update, and read it")
}

func ones(is bool) int {
	if is {
		return 1
	}
	return 0
}

// has reports whether a property has a field, or is an exception in another form.
func (s source) has(model, wire string) bool {
	target := renamed[model]
	if target == "" {
		target = "models." + model
	}
	_, field := s.structs[target][wire]
	return field || target == "literals" && (s.literals[wire] || s.tags[wire]) || exceptions[model] != "" || exceptions[model+"."+wire] != ""
}
