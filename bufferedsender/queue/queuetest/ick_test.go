package queuetest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Renaming a test requires a change of the table.
func TestEveryTestThatTheTableNamesExists(t *testing.T) {
	page, err := os.ReadFile("ICK.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range promises() {
		names = append(names, p.name)
	}
	_, tables, _ := strings.Cut(string(page), "|---|---|")
	for _, quoted := range regexp.MustCompile(`\*([^*]+)\*`).FindAllStringSubmatch(tables, -1) {
		if !slices.Contains(names, quoted[1]) {
			t.Errorf("no test is called %q", quoted[1])
		}
	}
}

// A promise that is listed twice was probably mistaken for another one.
func TestEveryPromiseHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range promises() {
		if seen[p.name] {
			t.Errorf("two tests are called %q", p.name)
		}
		seen[p.name] = true
	}
	t.Logf("%d promises", len(seen))
}
