package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestUnknownCommandsAreNoDeadEnd(t *testing.T) {
	for name, says := range map[string]string{
		"emulate": `unknown argument "emulate": did you mean emulator? (see azsearch -help)`, "boom": `unknown argument "boom" (see azsearch -help)`,
	} {
		var stderr bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), []string{"azsearch", name}, &bytes.Buffer{}, &stderr))
		assert.Equal(t, "azsearch: "+says+"\n", stderr.String())
	}
}

func TestErrorIsOneLine(t *testing.T) {
	for text, line := range map[string]string{
		"one":                           "one",
		"one\ntwo\n":                    "one; two",
		"no connection:\n\t127.0.0.1\n": "no connection: 127.0.0.1",
	} {
		assert.Equal(t, line, inLine(text))
	}
}

// Exit code 2 means that nothing was done, so a script might repeat the command.
func TestResultThatCannotBeWrittenIsNoMistakeOfUsage(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	var stderr bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"azsearch", "version"}, full, &stderr))
	assert.Contains(t, stderr.String(), "no space left")

	server := searchtest.NewServer(nil)
	defer server.Close()
	require.NoError(t, server.CreateIndex(roomFields))
	require.NoError(t, server.Listen("127.0.0.1:0"))
	t.Setenv("AZURE_SEARCH_ENDPOINT", server.URL())
	t.Setenv("AZURE_SEARCH_API_KEY", searchtest.AdminKey)
	stderr.Reset()
	assert.Equal(t, 1, run(t.Context(), []string{"azsearch", "export", "-format", "csv", "rooms"}, full, &stderr))
	assert.Contains(t, stderr.String(), "no space left")
	assert.NotContains(t, stderr.String(), "written in")
}

func TestEndThatTakesLongSaysHowNotToWait(t *testing.T) {
	for _, live := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			shown := make(sent, 9)
			ctx, interrupt := context.WithCancel(t.Context())
			explainEnd(ctx, terminal.Terminal{Writer: shown, Live: live})
			interrupt()
			time.Sleep(999 * time.Millisecond)
			assert.Empty(t, shown)
			time.Sleep(time.Second)
			synctest.Wait()
			if assert.Equal(t, live, len(shown) > 0) && live {
				assert.Contains(t, <-shown, "press Ctrl-C again to end at once\n")
			}
		})
	}
}

// sent receives the data written.
type sent chan string

func (s sent) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func TestProgressStaysInOneLineOfAnyTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		stop := progress(terminal.Terminal{Writer: &shown, Live: true}, false, func() string { return "a line that is longer than some terminals are wide" })
		time.Sleep(300 * time.Millisecond)
		stop()
		require.Contains(t, shown.String(), "a line")
		assert.Equal(t, "\r\x1b[K\x1b[?7la line that is longer than some terminals are wide\x1b[?7h\r\x1b[K", shown.String(), "wrapping is off while the line is shown")
	})
}

func TestWhatIsInterruptedSaysSo(t *testing.T) {
	s := newSession(t, "", map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(3), "rows.db": ""})
	t.Chdir(s.dir)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{
		{"load", "-endpoint", "emulator", "-create", "hotels.json", "a.jsonl"}, {"infer", "a.jsonl"}, {"stats", "-endpoint", "emulator"},
		{"outbox", "lag", "sqlite:rows.db?name=q"},
	} {
		var stderr bytes.Buffer
		assert.Equal(t, 130, run(ctx, append([]string{"azsearch"}, args...), &bytes.Buffer{}, &stderr), args)
		assert.Contains(t, stderr.String(), "interrupted", args)
	}
	err := interrupted(ctx, failed(exit.With(exit.Interrupted, errors.New("interrupted; nothing was sent"))))
	assert.EqualError(t, err, "interrupted; nothing was sent", "once")
	assert.Equal(t, exit.Interrupted, exit.Code(err))
}

// completed is a word to complete, and what a shell offers.
var completed = map[string]string{
	"azsearch queue pa": "parked pause", "azsearch load -in": "-index -in-flight", "azsearch load --in": "--index --in-flight",
	"azsearch load ho": "hotels.jsonl", "azsearch queue stats ho": "hotels.jsonl", "azsearch load -rejects ho": "hotels.jsonl",
}

// TestShellsComplete runs the scripts: bash without any function of a package, zsh with functions that print.
func TestShellsComplete(t *testing.T) {
	for shell, c := range map[string]struct {
		args   []string
		script string
	}{
		"bash": {[]string{"--norc"}, `source <(azsearch completion bash)
			COMP_WORDS=($BEGUN); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE=$BEGUN; COMP_POINT=${#BEGUN}
			__azsearch_bash_autocomplete azsearch "${COMP_WORDS[$COMP_CWORD]}"; [ -n "$COMPREPLY" ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[$COMP_CWORD]}")); echo "${COMPREPLY[*]}"`},
		"zsh": {[]string{"-f"}, `compdef() { : }; source <(azsearch completion zsh); words=(${=BEGUN})
			_describe() { for o in $opts; do [[ $o == ${words[-1]}* ]] && printf '%s ' ${o%%:*}; done }
			_files() { printf '%s ' ${words[-1]}*(N) }
			_azsearch; true`},
		"fish": {[]string{"--no-config"}, `azsearch completion fish | source; complete -C "$BEGUN" | string replace -r '\t.*' '' | string join ' '; true`},
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Log("no", shell, "here")
			continue
		}
		dir := t.TempDir()
		require.NoError(t, os.Symlink(program(t), filepath.Join(dir, "azsearch")))
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "hotels.jsonl"), nil, 0o600))
		for begun, want := range completed {
			cmd := exec.CommandContext(t.Context(), path, append(c.args, "-c", c.script)...)
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+dir+":"+os.Getenv("PATH"), "BEGUN="+begun)
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s: %s: %s", shell, begun, out)
			got := strings.Fields(string(out))
			slices.Sort(got)
			words := strings.Fields(want)
			slices.Sort(words)
			assert.Equal(t, words, got, "%s: %s", shell, begun)
		}
	}
}
