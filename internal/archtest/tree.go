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

// top is everything that may lie at the top of the repository.
var top = []string{
	"go.mod", "go.sum",
	"README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md",
	".ci", ".github", ".golangci.yml", ".gitignore", ".gitattributes",
	"models", "retry", "events", "search", "bufferedsender", "samples", "cmd", "internal",
	"bench", // a module of its own
}

// local is what git does not keep: build output and profiles.
var local = []string{".git", "bin", "*.test", "*.out", "*.prof", ".vscode", ".idea"}

// required must exist: a stranger looks for it.
var required = []string{
	"go.mod", "go.sum", "README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md",
	".ci/run", ".golangci.yml",
	"models/doc.go", "retry/doc.go", "events/doc.go", "search/doc.go", "search/searchtest/doc.go",
	"bufferedsender/doc.go", "bufferedsender/DESIGN.md", "bufferedsender/GUARANTEES.md",
}

// maxLines is where a file that is no test has stopped being one idea that
// fits a sitting. The house aims at 400; this is the line at which a file must
// be split or named in longFiles.
const maxLines = 500

// origin is a name of a test file that says how its tests came to be instead of what they are about.
var origin = regexp.MustCompile(`(^|_)(hostile|adversarial|attacks?|regressions?|issues?\d*|bugs?\d*|fix(es)?|reviews?|newcomer|audit|trials?|findings?|found|mutants?)(_internal)?_test\.go$`)

var replaces = regexp.MustCompile(`(?m)^replace\b`)

// longFiles may be longer than maxLines, each for the reason given.
var longFiles = map[string]string{}

// CheckTree returns one line for each thing about the files of the module at
// the root of tree that breaks a rule.
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
		broken = append(broken, "go.mod: a replace directive is ignored in whoever imports the module, who then gets something untested")
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
