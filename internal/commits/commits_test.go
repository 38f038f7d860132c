package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessagesOfTheRightFormAreTaken(t *testing.T) {
	for _, message := range []string{
		"retry: wait for whole seconds\n\nThe service rounds up.\n",
		"internal/publisher: move the core\n\nOnly paths change.\n\nCo-authored-by: A <a@example.com>\n",
		"models, search: read a point\n\nWhy.\n",
		".ci: run it twice\n\nWhy.",
		"Revert \"retry: wait\"\n\nThis reverts commit 1234.\n",
		"x: " + strings.Repeat("é", longestSubject-3) + "\n\nCharacters count, not bytes.\n",
	} {
		assert.Empty(t, problemsOf(message), message)
	}
}

func TestEachProblemOfAMessageIsNamed(t *testing.T) {
	for message, problem := range map[string]string{
		"Wait for whole seconds\n\nWhy.\n":               "of the form",
		"fixup! retry: wait\n\nWhy.\n":                   "of the form",
		"retry:wait\n\nWhy.\n":                           "of the form",
		"retry: wait\nfor seconds\n":                     "not empty",
		"retry: wait\n":                                  "no body",
		"retry: wait\n\nSigned-off-by: A <a@b.c>\n":      "no body",
		"retry: " + strings.Repeat("w", 66) + "\n\nWhy.": "73 characters",
	} {
		problems := problemsOf(message)
		require.Len(t, problems, 1, message)
		assert.Contains(t, problems[0], problem)
	}
	assert.Len(t, problemsOf("Wait"), 2)
}

// repository creates an empty repository and makes it the working directory.
func repository(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // set by a hook that runs the tests
		t.Setenv(key, "")
		require.NoError(t, os.Unsetenv(key))
	}
	run(t, "init", "--quiet", "--initial-branch=main")
	run(t, "config", "user.name", "A")
	run(t, "config", "user.email", "a@example.com")
}

func run(t *testing.T, args ...string) {
	t.Helper()
	_, err := git(args...)
	require.NoError(t, err)
}

func commit(t *testing.T, message string) {
	t.Helper()
	run(t, "commit", "--quiet", "--allow-empty", "--message", message)
}

func TestOnlyCommitsSinceTheBaseAndTheCheckCount(t *testing.T) {
	repository(t)
	commit(t, "Before the rule")
	broken, err := check("")
	require.NoError(t, err)
	assert.Zero(t, broken, "no check exists yet")

	require.NoError(t, os.MkdirAll(filepath.Dir(self), 0o700))
	require.NoError(t, os.WriteFile(self, []byte("package main\n"), 0o600))
	run(t, "add", self)
	commit(t, "internal/commits: check the form\n\nWhy.")
	broken, err = check("")
	require.NoError(t, err)
	assert.Zero(t, broken, "earlier commits are not checked")

	commit(t, "Without a scope")
	commit(t, "x: without a body")
	broken, err = check("")
	require.NoError(t, err)
	assert.Equal(t, 2, broken)

	run(t, "tag", "v0.1.0")
	broken, err = check("")
	require.NoError(t, err)
	assert.Zero(t, broken, "the last tag is the base")

	commit(t, "After the tag")
	for base, want := range map[string]int{"": 1, "v0.1.0": 1, "main": 0, "HEAD~2": 2} {
		broken, err = check(base)
		require.NoError(t, err, base)
		assert.Equal(t, want, broken, base)
	}

	run(t, "update-ref", "refs/remotes/origin/main", "HEAD")
	broken, err = check("")
	require.NoError(t, err)
	assert.Zero(t, broken, "main of the remote goes before the tag")
}

func TestMergeCommitsAreLeftAlone(t *testing.T) {
	repository(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(self), 0o700))
	require.NoError(t, os.WriteFile(self, []byte("package main\n"), 0o600))
	run(t, "add", self)
	commit(t, "internal/commits: check the form\n\nWhy.")
	run(t, "checkout", "--quiet", "-b", "side")
	commit(t, "x: change\n\nWhy.")
	run(t, "checkout", "--quiet", "main")
	run(t, "merge", "--quiet", "--no-ff", "--message", "Merge the side", "side")
	broken, err := check("")
	require.NoError(t, err)
	assert.Zero(t, broken)
}

func TestABranchThatWasBegunBeforeTheCheckIsLeftAlone(t *testing.T) {
	repository(t)
	commit(t, "Before the rule")
	run(t, "checkout", "--quiet", "-b", "older")
	commit(t, "On a branch that does not have the rule")
	run(t, "checkout", "--quiet", "main")
	require.NoError(t, os.MkdirAll(filepath.Dir(self), 0o700))
	require.NoError(t, os.WriteFile(self, []byte("package main\n"), 0o600))
	run(t, "add", self)
	commit(t, "internal/commits: check the form\n\nWhy.")
	run(t, "merge", "--quiet", "--no-ff", "--message", "Merge what is older", "older")
	broken, err := check("")
	require.NoError(t, err)
	assert.Zero(t, broken)
	commit(t, "After it")
	broken, err = check("")
	require.NoError(t, err)
	assert.Equal(t, 1, broken)
}

func TestABaseThatIsNotThereIsAnError(t *testing.T) {
	repository(t)
	commit(t, "One")
	_, err := check("nowhere")
	assert.ErrorContains(t, err, "there is no commit nowhere")
}
