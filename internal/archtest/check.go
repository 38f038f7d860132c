package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Package describes a package for the rules.
type Package struct {
	// Path is the import path.
	Path string
	// Imports are the imports of the non-test files; TestImports those of the tests in the package and of its
	// external tests.
	Imports, TestImports []string
	// Deps are all direct and indirect dependencies of Imports.
	Deps []string
	// StartsGoroutine is true if a non-test file has a go statement.
	StartsGoroutine bool
}

// Check returns one line for each violation of a rule in pkgs.
func Check(pkgs []Package) []string {
	var broken []string
	for _, p := range pkgs {
		broken = append(broken, check(p)...)
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

func check(p Package) (broken []string) {
	folder, ours := strings.CutPrefix(p.Path, Module+"/")
	if !ours {
		return []string{fmt.Sprintf("%s: outside the folders of the module", p.Path)}
	}
	rule, ok := ruleFor(folder)
	if !ok {
		return []string{fmt.Sprintf("%s: no rule says what it may import; decide and add one to internal/archtest/rules.go", folder)}
	}
	complain := func(format string, args ...any) {
		broken = append(broken, folder+": "+fmt.Sprintf(format, args...))
	}
	for _, imp := range p.Imports {
		if (!standard(imp) && !matchAny(rule.May, imp)) || matchAny(rule.Not, imp) || matchAny(rule.Never, imp) {
			complain("must not import %s", short(imp))
		}
	}
	for _, dep := range p.Deps {
		if matchAny(rule.Never, dep) && !slices.Contains(p.Imports, dep) {
			complain("must not depend on %s, which it reaches through another package", short(dep))
		}
	}
	for _, imp := range p.TestImports {
		if !standard(imp) && imp != p.Path && !matchAny(rule.May, imp) && !matchAny(TestsMay, imp) {
			complain("its tests must not import %s", short(imp))
		}
	}
	for dependency, folders := range homes {
		for _, imp := range slices.Concat(p.Imports, p.TestImports) {
			if match(dependency, imp) && !slices.Contains(folders, folder) {
				complain("must not import %s: outside of %s", imp, strings.Join(folders, " and "))
			}
		}
	}
	if p.StartsGoroutine && !matchAny(noLeakCheck, folder) && !looksForLeaks(p) {
		complain("starts a goroutine, so its tests need func TestMain(m *testing.M) { testkit.Main(m) }")
	}
	for _, element := range strings.Split(folder, "/") {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "misc"}, element) {
			complain("%q says nothing about what is inside", element)
		}
	}
	return broken
}

// looksForLeaks reports whether the tests of a package have a TestMain of testkit, or of testkit/servers, which also
// stops servers.
func looksForLeaks(p Package) bool {
	servers := Module + "/internal/testkit/servers"
	return p.Path == servers || slices.Contains(p.TestImports, Module+"/internal/testkit") || slices.Contains(p.TestImports, servers)
}

// ruleFor returns the most specific rule for a folder.
func ruleFor(folder string) (best Rule, found bool) {
	for _, r := range Rules {
		if match(r.Folder, folder) && (!found || len(r.Folder) > len(best.Folder)) {
			best, found = r, true
		}
	}
	return best, found
}

// match reports whether path equals pattern or, if pattern ends in "/...", is below it. "./x" in a pattern is folder
// x of this module.
func match(pattern, path string) bool {
	if rest, ours := strings.CutPrefix(pattern, "./"); ours {
		pattern = Module + "/" + rest
	}
	if prefix, below := strings.CutSuffix(pattern, "/..."); below {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}
	return path == pattern
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

// standard reports whether an import path belongs to the standard library: its first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// short removes the module path from a package of this module.
func short(path string) string { return strings.TrimPrefix(path, Module+"/") }
