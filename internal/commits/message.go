package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// longestSubject is the length at which git log --oneline and GitHub's lists cut a subject.
const longestSubject = 72

var (
	// A scope is the path of a package, or an area. Several scopes are separated by ", ".
	subjectForm = regexp.MustCompile(`^[^\s:,]+(, [^\s:,]+)*: \S`)
	reverted    = regexp.MustCompile(`^Revert "`) // in the form of git revert
	trailer     = regexp.MustCompile(`^[A-Za-z-]+: \S`)
)

// problemsOf returns the problems in a commit message.
func problemsOf(message string) (problems []string) {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	subject, rest := lines[0], lines[1:]
	if !subjectForm.MatchString(subject) && !reverted.MatchString(subject) {
		problems = append(problems, `the subject is not of the form "scope: change"`)
	}
	if n := utf8.RuneCountInString(subject); n > longestSubject {
		problems = append(problems, fmt.Sprintf("the subject has %d characters, more than %d", n, longestSubject))
	}
	if len(rest) > 0 && rest[0] != "" {
		problems = append(problems, "the line after the subject is not empty")
	}
	for _, line := range rest {
		if strings.TrimSpace(line) != "" && !trailer.MatchString(line) {
			return problems
		}
	}
	return append(problems, "there is no body that says why")
}
