package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// idiom is a pattern of wording that readers had to read twice, with the replacement.
type idiom struct {
	name    string
	pattern *regexp.Regexp
	instead string
	// allowed is removed from a line before matching.
	allowed *regexp.Regexp
}

func newIdiom(name, pattern, instead, allowed string) idiom {
	i := idiom{name: name, pattern: regexp.MustCompile(pattern), instead: instead}
	if allowed != "" {
		i.allowed = regexp.MustCompile(allowed)
	}
	return i
}

// idioms are refused in comments, strings and Markdown. A file without them can still be hard to read.
var idioms = []idiom{
	newIdiom("told", `\b(told|tells?|telling)\b`, "notify, report, pass", `\b(tells?|told|telling)( \w+)? apart\b`),
	newIdiom("person", `(?i)\b(nobody|somebody|whoever|whomever|anybody|everybody)\b`, "the actor; no other process", ""),
	newIdiom("who-code", `\b[Ww]ho (has|have|is|does|wants?|waits?|reads?|writes?|holds?|sends?|gives?|returns?|cannot)\b`, "caller, holder, process that", ""),
	newIdiom("is-no", `\b(is|are|was|were) no [a-z]+`, "is not a", `\b(is|are|was|were) no longer\b|\b[Tt]here (is|are|was|were) no\b`),
	newIdiom("is-to", `\b(is|are|was|were) to (be|have|do|get|go|wait|say|try|take|make)\b`, "must, will, should", ""),
	newIdiom("is-what", `^\w+ (is|are) (what|who|how|why|where)\b`, "a noun", `\bhow (long|many|often|much|large|far|old)\b`),
	newIdiom("acts-human", `\b(heeds?|hears?|obeys?|notices?|forgets?|looks? into|has the last word)\b`, "detect, follow, drop, inspect", ""),
	newIdiom("of-which", `\bof (whom|whose|which) `, "two sentences", ""),
	newIdiom("letter", `(?i)\bletters?\b`, "dead letter", `(?i)\b(dead[- ]letters?|letters?, digits?|letters? (and|or) digits?|(small|capital|upper-case|lower-case) letters?)\b`),
	newIdiom("anew", `\banew\b|\bat the (most|latest)\b`, "again, at most, no later than", ""),
	newIdiom("idiom", `\b(in vain|now and then|all the same|in hand|second net|as a rule|by (itself|themselves))\b`, "fails, periodically, anyway, buffered, safety net, usually, automatically", ""),
	newIdiom("beside", `\b[Bb]eside\b`, "while … runs, next to, with", ""),
	newIdiom("go-on", `\b(go(es)?|going|went) on\b`, "continue, resume", ""),
	newIdiom("sick", `\b(sick|mend(s|ed)?|spoils?)\b`, "failing, repair, corrupt", ""),
	newIdiom("became", `\b(become|became|becomes) of\b`, "outcome", ""),
}

var quoted = regexp.MustCompile("`[^`]*`")

// find returns the idioms in a line. It skips a line with the comment //voice:ok REASON.
func find(line string) (found []string) {
	if line == "" || strings.Contains(line, "voice:ok ") {
		return nil
	}
	line = quoted.ReplaceAllString(line, "``")
	for _, i := range idioms {
		m := i.pattern.FindString(line)
		if m != "" && i.allowed != nil {
			m = i.pattern.FindString(i.allowed.ReplaceAllString(line, ""))
		}
		if m != "" {
			found = append(found, fmt.Sprintf("%q (%s: write %s)", m, i.name, i.instead))
		}
	}
	return found
}

// ReadVoice returns the idioms of each product file and Markdown page, one line each. It includes examples, and
// excludes tests, test data and pages with licences.
func ReadVoice(tree fs.FS) (map[string][]string, error) {
	found := make(map[string][]string)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (isLocal(base) || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") || name == "internal/archtest/voice.go" || base == "MUTANTS.md" || base == "NOTICE.md":
			return nil
		}
		var lines []string
		switch path.Ext(name) {
		case ".md":
			content, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			lines = strings.Split(string(content), "\n")
		case ".go":
			if lines, err = prose(tree, name); err != nil {
				return err
			}
		}
		for i, line := range lines {
			for _, f := range find(line) {
				found[name] = append(found[name], fmt.Sprintf("%s:%d: got %s", name, i+1, f))
			}
		}
		return nil
	})
	return found, err
}

// prose returns the lines of a Go file reduced to comments and strings of several words.
func prose(tree fs.FS, name string) ([]string, error) {
	p, err := parse(tree, name)
	if err != nil {
		return nil, err
	}
	lines := make([]string, bytes.Count(p.content, []byte("\n"))+1)
	add := func(at token.Pos, text string) {
		first := p.set.Position(at).Line - 1
		for i, line := range strings.Split(text, "\n") {
			lines[first+i] += " " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
			lines[first+i] = strings.TrimSpace(lines[first+i])
		}
	}
	for _, group := range p.file.Comments {
		for _, c := range group.List {
			add(c.Pos(), c.Text)
		}
	}
	ast.Inspect(p.file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Count(text.Value, " ") > 2 {
			add(text.Pos(), strings.Trim(text.Value, "`\""))
		}
		return true
	})
	return lines, nil
}

// eachPage calls visit with each Markdown page, except lists of mutants and those in testdata.
func eachPage(tree fs.FS, visit func(text string)) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (isLocal(base) || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md" || base == "MUTANTS.md":
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err == nil {
			visit(string(content))
		}
		return err
	})
}
