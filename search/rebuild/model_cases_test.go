package rebuild

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// tryModel drives a Run into a trap and starts another one when the first is gone, for ten writer seeds. The random
// model draws such schedules only rarely.
func tryModel(t *testing.T, steps []Step, first trap, held string) {
	t.Helper()
	for _, step := range steps {
		n := 0
		for seed := range uint64(testkit.Cases(3, 5, 10)) {
			first.step = step
			plan := modelPlan{
				seed: seed, idleValid: time.Second, documents: 5,
				writers: []writerPlan{{seed: seed, repeats: true}, {seed: seed + 100}, {seed: seed + 200}},
				steps: []modelStep{
					{what: "wait", behind: 20 * time.Second},
					{what: "run", which: 2, settle: 3 * time.Second, lives: true, trap: &first},
					{what: "run", which: 2, settle: 2 * time.Second, behind: first.long},
				},
			}
			holds, wrong := runModel(t, plan)
			n += min(holds[held+string(step)], holds["Run has ended"])
			assert.Empty(t, wrong, "%v", plan)
		}
		assert.Positive(t, n, "%s%s", held, step)
	}
}

func TestARunThatGoesOnForOneThatWasKilledWritesNothingBeforeTheLastRequestOfThat(t *testing.T) {
	tryModel(t, []Step{stepCatchingUp, stepSettling}, trap{whom: "documents", what: "kill", when: "late", late: 10 * time.Second}, "killed in ")
}

func TestWhatARunThatWasCutOffHasReadIsNotWrittenWhenAnotherHasGoneOn(t *testing.T) {
	t.Parallel()
	tryModel(t, []Step{stepCatchingUp, stepSettling}, trap{whom: "documents", what: "cut", when: "before", late: 100 * time.Second, long: 200 * time.Second}, "cut off in ")
}

func TestARunThatGoesOnWhileWritersWaitBringsOverWhatWasMarked(t *testing.T) {
	tryModel(t, []Step{stepClosing, stepMoving}, trap{whom: "line", what: "kill", when: "before"}, "killed in ")
}

// A request to the new index gets no reply and is retried. The first request is executed late, after writers have
// changed its documents.
func TestWritersDoNotComeOverWhileARequestWithoutAnAnswerMayStillBeCarriedOut(t *testing.T) {
	n := 0
	for i := 0; i < 30; i += testkit.Cases(3, 1, 1) { // what is hit depends on the seed, so on everything that draws from it
		late := trap{step: stepMoving, whom: "documents", what: "lose", when: "late", late: time.Duration(3000+50*i) * time.Millisecond}
		plan := modelPlan{
			seed: uint64(i % 10), idleValid: 5 * time.Second, documents: 40, tight: true, writers: []writerPlan{{seed: 24, comes: 24 * time.Millisecond, repeats: true}},
			steps: []modelStep{{what: "run", which: 8, settle: 1801 * time.Millisecond, behind: time.Minute, lives: true, trap: &late}},
		}
		holds, wrong := runModel(t, plan)
		n += holds["without an answer in "+string(stepMoving)]
		assert.Empty(t, wrong, "%v", plan)
	}
	assert.Positive(t, n)
}
