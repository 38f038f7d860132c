package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// top lists the names allowed at the top of the repository.
var top = []string{
	"go.mod", "go.sum",
	"README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md",
	".ci", ".github", ".golangci.yml", ".gitignore", ".gitattributes",
	"models", "retry", "events", "search", "bufferedsender", "samples", "cmd", "internal",
	"bench", // a separate module
}

// local lists files that git ignores: build output and profiles.
var local = []string{".git", "bin", "*.test", "*.out", "*.prof", ".vscode", ".idea"}

// required lists files that must exist, because newcomers look for them.
var required = []string{
	"go.mod", "go.sum", "README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md",
	".ci/run", ".golangci.yml",
	"models/doc.go", "retry/doc.go", "events/doc.go", "search/doc.go", "search/searchtest/doc.go",
	"bufferedsender/doc.go", "bufferedsender/DESIGN.md", "bufferedsender/GUARANTEES.md",
}

// maxLines is the maximum number of lines of a non-test file. The convention is 400; a longer file must be split, or
// named in longFiles.
const maxLines = 500

// origin matches names of test files that describe the origin of the tests instead of their subject.
var origin = regexp.MustCompile(`(^|_)(hostile|adversarial|attacks?|regressions?|issues?\d*|bugs?\d*|fix(es)?|reviews?|newcomer|audit|trials?|findings?|found|mutants?)(_internal)?_test\.go$`)

var replaces = regexp.MustCompile(`(?m)^replace\b`)

// longFiles are exempt from maxLines, with the reason.
var longFiles = map[string]string{}

// CheckTree returns one line for each violation of the rules for files in the module.
func CheckTree(tree fs.FS) ([]string, error) {
	var broken []string
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if isLocal(e.Name()) || slices.Contains(top, e.Name()) {
			continue
		}
		broken = append(broken, e.Name()+": does not belong at the top of the repository")
	}
	for _, name := range required {
		if _, err := fs.Stat(tree, name); err != nil {
			broken = append(broken, name+": missing")
		}
	}
	if gomod, err := fs.ReadFile(tree, "go.mod"); err == nil && replaces.Match(gomod) {
		broken = append(broken, "go.mod: a replace directive has no effect for importers of the module, so they would get an untested version")
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (isLocal(d.Name()) || d.Name() == "testdata"):
			return fs.SkipDir
		case origin.MatchString(d.Name()):
			broken = append(broken, name+": named after how its tests came to be; name it after what they are about, or move them there")
			return nil
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if n := bytes.Count(content, []byte("\n")); n > maxLines && longFiles[name] == "" {
			broken = append(broken, fmt.Sprintf("%s: %d lines; split it by idea, or say in internal/archtest/tree.go why it is one", name, n))
		}
		return nil
	})
	return broken, err
}

func isLocal(name string) bool {
	return slices.ContainsFunc(local, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}
