package rebuild

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pgregory.net/rapid"
)

const modelKeys = 12 // keys of each writer

// modelPlan is a schedule.
type modelPlan struct {
	seed      uint64
	idleValid time.Duration
	documents int
	writers   []writerPlan
	steps     []modelStep
	aborts    bool // what runs at the end
	tight     bool // the source shows a write only when the service applies it
}

type writerPlan struct {
	seed    uint64
	comes   time.Duration
	repeats bool // repeats the unconfirmed writes of the previous process
}

// modelStep is an event and the pause after it.
type modelStep struct {
	what   string
	which  int // index of a writer or runner, or kind of trouble
	long   time.Duration
	settle time.Duration
	behind time.Duration
	lives  bool  // the sender of a failed Run keeps sending
	trap   *trap // of a Run, an Abort, or a writer
}

func (s modelStep) String() string {
	return fmt.Sprintf("%s %d for %v (settle %v, lives %v, trap %v), then %v", s.what, s.which, s.long, s.settle, s.lives, s.trap, s.behind)
}

func (p modelPlan) String() string {
	text := fmt.Sprintf("seed %d, idle valid %v, %d documents, writers %+v, aborts in the end: %v, tight: %v", p.seed, p.idleValid, p.documents, p.writers, p.aborts, p.tight)
	for _, s := range p.steps {
		text += "\n\t" + s.String()
	}
	return text
}

func drawModel(rt *rapid.T) modelPlan {
	writer := rapid.Custom(func(rt *rapid.T) writerPlan {
		seed := rapid.Uint64().Draw(rt, "seed")
		return writerPlan{seed, time.Duration(seed%20_000) * time.Millisecond, rapid.Bool().Draw(rt, "repeats")}
	})
	// Numbers come from a seed, because rapid's own draws are mostly small and would repeat the same events.
	seed := rapid.Uint64().Draw(rt, "seed")
	step := rapid.Custom(func(rt *rapid.T) modelStep {
		what := rapid.SampledFrom([]string{"run", "run", "run", "run", "run", "run", "run", "kill run", "stop run", "end run", "abort", "abort", "drop", "stop writer", "kill writer", "alias", "trouble"}).Draw(rt, "what")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), seed))
		s := modelStep{
			what: what, which: r.IntN(16), long: drawMS(r, 2000, 20_000, 100_000), settle: time.Second + drawMS(r, 5000),
			behind: drawMS(r, 0, 3000, 30_000, 100_000), lives: r.IntN(2) == 0,
		}
		switch what {
		case "run":
			if r.IntN(5) > 0 {
				s.trap = drawTrap(r, modelSteps)
			}
		case "abort":
			if r.IntN(2) > 0 {
				s.trap = drawTrap(r, []Step{stepAborting})
			}
		case "kill writer", "stop writer":
			s.trap = &trap{whom: "documents", skips: r.IntN(3), what: what[:4], when: pick(r, "before", "after", "late"), late: drawMS(r, 4000), long: s.long}
		}
		return s
	})
	return modelPlan{
		seed:      seed,
		idleValid: rapid.SampledFrom([]time.Duration{time.Second, time.Second, 5 * time.Second, time.Minute}).Draw(rt, "idle valid"),
		documents: rapid.IntRange(0, 40).Draw(rt, "documents"),
		writers:   rapid.SliceOfN(writer, 1, 3).Draw(rt, "writers"),
		steps:     rapid.SliceOfN(step, 5, 12).Draw(rt, "steps"),
		aborts:    rapid.IntRange(0, 3).Draw(rt, "ends") == 0,
		tight:     rapid.Bool().Draw(rt, "tight"),
	}
}

// modelAsks has the calls of a Run in each step and of an Abort. Critical calls are repeated, so they are drawn more
// often.
var modelAsks = map[Step][]string{
	stepCreating:   {"line", "store", "service"},
	stepMarking:    {"line", "store"},
	StepFilling:    {"line", "store", "truth", "documents", "documents"},
	stepCatchingUp: {"line", "store", "truth", "documents", "documents"},
	stepClosing:    {"line", "line", "store", "truth", "documents"},
	stepSwapping:   {"line", "store", "service", "service"},
	stepSettling:   {"line", "store", "truth", "documents", "documents"},
	stepMoving:     {"line", "line", "store", "truth", "documents"},
	stepAborting:   {"line", "line", "store", "service"},
}

// modelSteps are the steps in which a Run is disturbed. The two in which writers wait are listed twice.
var modelSteps = []Step{stepCreating, stepMarking, StepFilling, stepCatchingUp, stepClosing, stepClosing, stepSwapping, stepSettling, stepMoving, stepMoving}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func drawMS(r *rand.Rand, most ...int) time.Duration {
	return time.Duration(r.IntN(1+pick(r, most...))) * time.Millisecond
}

// drawTrap draws the step first, so that short steps are hit as often as long ones.
func drawTrap(r *rand.Rand, steps []Step) *trap {
	t := &trap{
		step: pick(r, steps...), skips: pick(r, 0, 0, 1, r.IntN(6)), what: pick(r, "kill", "kill", "kill", "stop", "stop", "cut", "cut", "lose"), when: pick(r, "before", "after", "late"),
		long: pick(r, drawMS(r, 2000), 50*time.Second+drawMS(r, 20_000), 70*time.Second+drawMS(r, 150_000), 70*time.Second+drawMS(r, 150_000)),
	}
	switch t.whom = pick(r, modelAsks[t.step]...); {
	case t.whom == "line":
		t.skips = min(t.skips, 2)
	case t.whom == "documents" && t.what == "kill" && r.IntN(2) == 0:
		t.when = "late"
	}
	switch {
	case t.what == "cut":
		t.long = 70*time.Second + drawMS(r, 150_000)
		t.late = longTerm.takeOver + time.Duration(r.Int64N(int64(t.long-longTerm.takeOver)))
	case t.whom != "documents":
		t.late = drawMS(r, 1000, 100_000)
	case t.what == "lose":
		t.late = drawMS(r, 4000) // more than UnknownWait, for which the sender waits
	default:
		t.late = drawMS(r, 5000) // less than the time between the end of a heartbeat's validity and a takeover
	}
	return t
}

// modelBlindFrom is the number of schedules after which every event must have occurred; otherwise the model tests
// less than it claims.
const modelBlindFrom = 1000

func modelHolds() []string {
	all := []string{
		"late: documents", "late: service", "late: store", "late: truth", "a name was used again", "the alias was moved by another process", "Run has ended",
		ErrRunning.Error(), ErrTakenOver.Error(), ErrClosed.Error(), ErrTooSlow.Error(), errLost.Error(),
		"resumed in " + string(stepCatchingUp), "resumed in " + string(stepSettling),
	}
	for step := range modelAsks {
		for _, what := range []string{"killed", "stopped", "cut off", "aborted"} {
			all = append(all, what+" in "+string(step))
		}
		if step != stepAborting { // only another Abort continues that step
			all = append(all, "taken over in "+string(step))
		}
	}
	slices.Sort(all)
	return all
}
