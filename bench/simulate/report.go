package simulate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// write writes the table, the drawing and the targets.
func (o *outcome) write(w io.Writer, used measure.Usage) {
	p := o.plan
	fmt.Fprintf(w, "%d processes with %d senders each, to %d of %d indexes; the service takes %.0f documents a second from all together; %s; flush %v; seed %d.\n\n",
		p.processes, p.senders, p.senders, p.indexes, p.capacity, p.named, p.flush, p.seed)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "phase\tseconds\trequests/s\trefused\tdocuments/s applied\tthrottled\tsaturated s\tgoodput then\tfairness\twaiting at the end\t")
	for i, now := range p.phases {
		s := o.phaseSpan(i)
		fmt.Fprintf(tab, "%s\t%.0f\t%.0f\t%s\t%.0f\t%s\t%.0f\t%s\t%s\t%d\t\n", now.name, s.seconds, float64(s.requests)/s.seconds,
			percent(measure.Ratio(float64(s.refused), float64(s.requests))), float64(s.applied)/s.seconds,
			percent(measure.Ratio(float64(s.throttled), float64(s.documents))), s.saturated, percent(o.goodput(i)), measure.Figure(measure.Known(jain(o.shares[i])), 3), s.waiting)
	}
	tab.Flush()
	o.draw(w)
	o.writeTargets(w)
	fmt.Fprintf(w, "\n%d accepted, %d completed, %d failed, %d held by killed processes, %d applied again; all settled %v after the end.\n",
		o.accepted, o.completed, o.failed, o.held, o.twice, o.settledAfter)
	for reason, n := range o.reasons {
		fmt.Fprintf(w, "failed: %d of %s\n", n, reason)
	}
	for _, complaint := range o.wrong {
		fmt.Fprintln(w, "wrong:", complaint)
	}
	fmt.Fprintf(w, "It took %.0f s, %.0f s of processor time, and at most %s MB.\n", used.Seconds, used.CPUSeconds, measure.Megabytes(used.PeakRSS))
}

func percent(share float64) string {
	known := measure.Known(100 * share)
	if known == nil {
		return "–"
	}
	return measure.Figure(known, 1) + " %"
}

// width is the number of columns in the drawing of a phase.
const width = 60

var blocks = []rune(" ▁▂▃▄▅▆▇█")

// draw draws each phase: applied documents relative to the full capacity, and requests relative to their maximum.
func (o *outcome) draw(w io.Writer) {
	most := 0.0
	for i := range o.plan.phases {
		most = max(most, slices.Max(o.columns(i, func(s *second) float64 { return float64(s.requests) })))
	}
	fmt.Fprintf(w, "\nDocuments applied, of %.0f a second, and below requests, of %.0f a second:\n", o.plan.capacity, most)
	for i, now := range o.plan.phases {
		fmt.Fprintf(w, "%25s |%s|\n%25s |%s|\n", now.name, bar(o.columns(i, func(s *second) float64 { return float64(s.applied) }), o.plan.capacity),
			"", bar(o.columns(i, func(s *second) float64 { return float64(s.requests) }), most))
	}
}

// columns returns the means of a phase, one per column of the drawing.
func (o *outcome) columns(i int, value func(s *second) float64) []float64 {
	seconds := o.seconds[o.starts[i]:o.starts[i+1]]
	all := make([]float64, min(width, len(seconds)))
	for c := range all {
		part := seconds[c*len(seconds)/len(all) : (c+1)*len(seconds)/len(all)]
		for k := range part {
			all[c] += value(&part[k]) / float64(len(part))
		}
	}
	return all
}

func bar(values []float64, full float64) string {
	drawn := make([]rune, len(values))
	for i, v := range values {
		level := int(math.Round(v / full * float64(len(blocks)-1)))
		drawn[i] = blocks[min(max(level, 0), len(blocks)-1)]
	}
	return string(drawn)
}

// writeTargets prints each target and whether it was reached.
func (o *outcome) writeTargets(w io.Writer) {
	fmt.Fprintln(w)
	target := func(reached bool, format string, args ...any) {
		mark := "reached    "
		if !reached {
			mark = "NOT REACHED"
		}
		fmt.Fprintf(w, "%s  %s\n", mark, fmt.Sprintf(format, args...))
	}
	for i, now := range o.plan.phases {
		if now.saturated {
			target(o.goodput(i) >= leastGoodput, "goodput while saturated, %s: %s of the capacity, at least %s", now.name, percent(o.goodput(i)), percent(leastGoodput))
		}
	}
	for i, now := range o.plan.phases {
		if fair := jain(o.shares[i]); !math.IsNaN(fair) && now.capacity > 0 {
			target(fair >= leastJain, "fairness between processes, %s: %.3f, at least %.2f", now.name, fair, leastJain)
		}
	}
	usual := o.usual()
	target(float64(o.firstSecond()) <= mostAfter*usual, "requests in the first second after the outage: %d, %.2f times the usual %.0f, at most %.1f",
		o.firstSecond(), float64(o.firstSecond())/usual, usual, mostAfter)
	mean, most, opening := o.probes()
	target(float64(most) <= usual, "probes a second in the outage, after its first minute: mean %.0f, maximum %d; target: at most the usual %.0f", mean, most, usual)
	target(float64(opening) <= usual, "requests a second in its first minute, while the breakers open: maximum %d, %.1f times the usual; target: at most 1", opening, float64(opening)/usual)
	for _, i := range []int{afterOutage, halved, restored} {
		took, ok := o.recovery(i)
		target(ok, "until 90 %% of the capacity is used again, %s: %s", o.plan.phases[i].name, after(took, ok))
	}
	target(o.lost() == 0 && len(o.wrong) == 0, "lost: %d, and broken promises: %d", o.lost(), len(o.wrong))
}

func after(took time.Duration, ok bool) string {
	if !ok {
		return "not in this phase"
	}
	return took.String()
}
