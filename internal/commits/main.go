// Command commits is for CI: it checks that the commits of a branch have the
// form that CONTRIBUTING.md describes.
//
//	go run ./internal/commits
//
// It looks at what HEAD has and the base has not. The base is the branch, tag or
// commit in AZSEARCH_BASE; without it main of the remote origin, of upstream, or
// the last tag. Merge commits are left alone, and so is what was committed without
// knowing of this check.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// self was added by the first commit that the check applies to.
const self = "internal/commits/main.go"

func main() {
	broken, err := check(os.Getenv("AZSEARCH_BASE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if broken > 0 {
		os.Exit(1)
	}
}

// check returns how many commits of the repository in the working directory
// break a rule.
func check(base string) (broken int, err error) {
	base, err = baseOr(base)
	if err != nil {
		return 0, err
	}
	commits, err := since(base)
	if err != nil {
		return 0, err
	}
	if base == "" {
		base = "the commit that introduced this check"
	}
	if len(commits) == 0 {
		fmt.Printf("no commits since %s: nothing to check\n", base)
		return 0, nil
	}
	for _, commit := range commits {
		message, err := git("show", "--no-patch", "--format=%B", commit)
		if err != nil {
			return 0, err
		}
		problems := problemsOf(message)
		if len(problems) == 0 {
			continue
		}
		broken++
		subject, _, _ := strings.Cut(message, "\n")
		fmt.Printf("%.10s %s\n", commit, subject)
		for _, problem := range problems {
			fmt.Printf("\t%s\n", problem)
		}
	}
	fmt.Printf("%d commits since %s, %d of them not as CONTRIBUTING.md says\n", len(commits), base, broken)
	return broken, nil
}

// baseOr returns the base that is asked for, or the first there is of the usual
// ones, or "".
func baseOr(asked string) (string, error) {
	if asked != "" {
		if _, err := git("rev-parse", "--verify", "--quiet", asked+"^{commit}"); err != nil {
			return "", fmt.Errorf("AZSEARCH_BASE: there is no commit %s here (in a shallow clone it has to be fetched)", asked)
		}
		return asked, nil
	}
	for _, ref := range []string{"refs/remotes/origin/main", "refs/remotes/upstream/main"} {
		if _, err := git("rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
			return strings.TrimPrefix(ref, "refs/remotes/"), nil
		}
	}
	if tag, err := git("describe", "--tags", "--abbrev=0"); err == nil {
		return strings.TrimSpace(tag), nil
	}
	return "", nil
}

// since returns the commits that base has not and that were made on top of the
// check: a branch that was begun before it is left alone even if it is merged later.
func since(base string) ([]string, error) {
	first, err := git("log", "--diff-filter=A", "--format=%H", "--", self)
	if err != nil {
		return nil, err
	}
	added := strings.Fields(first)
	if len(added) == 0 {
		return nil, nil // the check itself is not committed yet
	}
	out, err := git("rev-list", "--no-merges", "--reverse", "--ancestry-path", added[len(added)-1]+"..HEAD")
	if err != nil || base == "" {
		return strings.Fields(out), err
	}
	commits := strings.Fields(out)
	out, err = git("rev-list", "HEAD", "^"+base)
	fresh := strings.Fields(out)
	return slices.DeleteFunc(commits, func(c string) bool { return !slices.Contains(fresh, c) }), err
}

func git(args ...string) (string, error) {
	c := exec.Command("git", args...)
	var problem strings.Builder
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w %s", strings.Join(args, " "), err, problem.String())
	}
	return string(out), nil
}
