// Command commits checks in CI that the commits of a branch have the form described in CONTRIBUTING.md.
//
//	go run ./internal/commits
//
// It checks the commits in HEAD that are not in the base. The base is the branch, tag or commit in AZSEARCH_BASE,
// else main of the remote origin or upstream, else the last tag. It skips merge commits, and commits not based on
// the one that introduced this check.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// self was added by the commit that introduced the check.
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

// check returns the number of commits in the repository of the working directory that break a rule.
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

// baseOr returns the requested base, else the first existing default base, else "".
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

// since returns the commits that are not in base and are based on the check. A branch begun before the check is
// skipped, even if it is merged later.
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
