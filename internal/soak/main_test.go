package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/queuefiles"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// TestMain lets the test binary act as the command, whose workers are processes of the same program.
func TestMain(m *testing.M) {
	queuefiles.Main()
	soaks = append(soaks, planted...)
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		main()
	}
	testkit.Main(m)
}

// By default go test ends after ten minutes, which a round on a busy machine may take.
func TestRoundsOfGoTestHaveATimeout(t *testing.T) {
	for _, s := range soaks {
		r, is := s.rounds.(commands)
		if !is {
			continue
		}
		cmd, err := r.command(t.Context(), 1)
		require.NoError(t, err)
		if cmd.Args[1] == "test" {
			require.Contains(t, strings.Join(cmd.Args, " "), " -timeout=", s.name)
		}
	}
}

// forgetful is a client that reports some requests as applied without sending them.
type forgetful struct{ *search.Client }

func (f forgetful) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	again := unclosed{bytes.NewReader(raw)}
	if bytes.Contains(raw, []byte(`"id":"c1-`)) {
		return sendertest.AcceptAll(ctx, again)
	}
	return f.Client.IndexDocumentsRaw(ctx, again)
}

type unclosed struct{ *bytes.Reader }

func (unclosed) Close() error { return nil }

// at makes a round that calls do at one seed only.
func at(seed uint64, do func()) programs {
	draws := rand.New(rand.NewPCG(seed, 0)).Uint64()
	return programs{
		once: func(_ *testing.T, rnd *rand.Rand) ([]string, error) {
			if rnd.Uint64() == draws {
				do()
			}
			return []string{"anything"}, nil
		},
		holds: func() []string { return []string{"anything"} },
		limit: 10 * time.Second,
	}
}

var planted = []soak{
	{"forgetful", "a client that loses documents reported as sent", programs{
		once: func(t *testing.T, rnd *rand.Rand) ([]string, error) {
			return sendertest.RunModel(t, rnd.IntN, &sendertest.ModelOptions{
				Wrap: func(c *search.Client) bufferedsender.Indexer { return forgetful{c} },
			})
		},
		holds: sendertest.ModelHolds,
	}},
	{"sound", "nothing is wrong", at(0, func() {})},
	{"crashing", "a goroutine panics", at(7, func() { go panic("planted"); select {} })},
	{"hanging", "a loop without end", func() programs {
		r := at(7, func() {
			for { //nolint:staticcheck // the planted fault: a round that hangs
			}
		})
		r.limit = time.Second
		return r
	}()},
	{"passing", "a command that passes", goCommand("list", "./internal/soak")},
	{"failing", "a command that fails", goCommand("list", "./nothing")},
	{"blind", "something that never happens", programs{
		once:  func(*testing.T, *rand.Rand) ([]string, error) { return nil, nil },
		holds: func() []string { return []string{"a blue moon"} },
	}},
}

// goCommand makes rounds that run the go command.
func goCommand(args ...string) commands {
	return commands{func(ctx context.Context, _ uint64) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "go", args...), nil
	}}
}

// run runs the command, and returns its output and exit code.
func run(t *testing.T, args ...string) (string, int) {
	var out bytes.Buffer
	code := command(t.Context(), args, &out, &out)
	return out.String(), code
}

func TestAMistakeIsFoundAndItsSeedFindsItAgain(t *testing.T) {
	out, code := run(t, "forgetful", "-seed", "1", "-rounds", "1000")
	require.Equal(t, 1, code, out)
	match := regexp.MustCompile(`go run ./internal/soak forgetful (-seed \d+ -rounds 1 -times 100)\n`).FindStringSubmatch(out)
	require.NotNil(t, match, out)
	assert.Contains(t, out, "its outcomes allow only")

	out, code = run(t, append([]string{"forgetful"}, strings.Fields(match[1])...)...)
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, match[1])
	assert.Contains(t, out, "its outcomes allow only")
}

func TestWhateverEndsAProcessIsAFailureWithASeed(t *testing.T) {
	for name, says := range map[string]string{"crashing": "panic: planted", "hanging": "the worker takes longer than 1s"} {
		t.Run(name, func(t *testing.T) {
			out, code := run(t, name, "-seed", "3", "-rounds", "10")
			assert.Equal(t, 1, code)
			assert.Contains(t, out, "seed 7 failed")
			assert.Contains(t, out, says)
			assert.Contains(t, out, "goroutine ")
		})
	}
}

func TestWhatNoRoundHeldWasNotTested(t *testing.T) {
	out, code := run(t, "blind", "-rounds", fmt.Sprint(blindFrom))
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "held: a blue moon")
	_, code = run(t, "blind", "-rounds", fmt.Sprint(blindFrom-1))
	assert.Zero(t, code, "too few rounds prove nothing")
}

func TestCommandsRunAtTheRootOfTheModule(t *testing.T) {
	out, code := run(t, "passing", "-seed", "1", "-rounds", "2")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "seed 1\ngithub.com/go-azsearch/azsearch/internal/soak\nseed 2\n")
}

func TestACommandThatFailsEndsItAndIsShown(t *testing.T) {
	out, code := run(t, "failing", "-seed", "5", "-rounds", "9")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "nothing: directory not found")
	assert.Contains(t, out, "seed 5 failed")
	assert.NotContains(t, out, "seed 6")
}

// The lines are output of the fuzzing engine.
func TestOnlyWhatATargetFailsAtIsAFinding(t *testing.T) {
	const (
		deadline = "--- FAIL: FuzzParse (10.02s)\n    context deadline exceeded\nFAIL\n"
		input    = "    --- FAIL: FuzzParse (0.00s)\n        parse_test.go:9: long\n\n    Failing input written to testdata/fuzz/FuzzParse/81476e3145e0ed8c\n"
	)
	assert.True(t, ranOutOfTime([]byte(deadline)))
	assert.False(t, ranOutOfTime([]byte(input)))
	assert.False(t, ranOutOfTime([]byte(deadline+input)))
	assert.Equal(t, "testdata/fuzz/FuzzParse/81476e3145e0ed8c", string(failing.FindSubmatch([]byte(input))[1]))
}

func TestRoundsAreCounted(t *testing.T) {
	out, code := run(t, "sound", "-seed", "8", "-rounds", "50", "-times", "3")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "the first seed is 8\nrounds passed: 150 in ")
	assert.Contains(t, out, "150  100.0 %  anything")
}

func TestTimeThatIsUpBeginsNoRound(t *testing.T) {
	out, code := run(t, "sound", "-for", "1ns")
	assert.Zero(t, code)
	assert.Contains(t, out, "\nrounds passed: 0 in ")
}

func TestAnInterruptIsNoFailureOfARound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	assert.Equal(t, 1, command(ctx, []string{"sound"}, &out, &out))
	assert.Contains(t, out.String(), context.Canceled.Error())
	assert.NotContains(t, out.String(), "failed")
}

func TestWithoutANameTheCommandListsThem(t *testing.T) {
	out, code := run(t)
	assert.Zero(t, code)
	for _, s := range soaks {
		assert.Contains(t, out, s.name)
		assert.Contains(t, out, s.about)
	}
}

func TestMistakesInTheArgumentsAreReported(t *testing.T) {
	for _, args := range [][]string{{"none"}, {"sound", "more"}, {"sound", "-rounds", "-1"}, {"sound", "-times", "0"}, {"sound", "-for", "-1s"}, {"sound", "-x"}} {
		out, code := run(t, args...)
		assert.Equal(t, 2, code, args)
		assert.NotEmpty(t, out)
	}
}
