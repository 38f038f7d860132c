package scale

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// logAxis makes an axis logarithmic, with margins around the values.
func logAxis(a *plot.Axis, ticks []plot.Tick, least, most float64) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.ConstantTicks(ticks)
	a.Min, a.Max = least*0.8, most*1.25
}

// linearAxis makes an axis start at zero, so that slopes are not exaggerated.
func linearAxis(a *plot.Axis, most float64) {
	a.Tick.Marker = plot.ConstantTicks(evenTicks(most))
	a.Min, a.Max = 0, most
}

// evenTicks returns three to seven ticks from zero to most.
func evenTicks(most float64) []plot.Tick {
	unit := math.Pow(10, math.Floor(math.Log10(most/3)))
	every := unit
	for _, times := range []float64{1, 2, 5} {
		if every = unit * times; most/every <= 6 {
			break
		}
	}
	var values []float64
	for v := 0.0; v <= most; v += every {
		values = append(values, v)
	}
	return ticksAt(values)
}

// ticksAt returns a tick with a label for each value.
func ticksAt(values []float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range values {
		ticks = append(ticks, plot.Tick{Value: v, Label: short(v)})
	}
	return ticks
}

// decadeTicks returns ticks at 1, 2 and 5 times each power of ten, from slightly below least to slightly above most.
// The axis omits ticks outside its range.
func decadeTicks(least, most float64) []plot.Tick {
	var values []float64
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		values = append(values, power, 2*power, 5*power)
	}
	return ticksAt(values)
}

// short formats a number like 20 k or 10 M.
func short(v float64) string {
	unit := ""
	switch {
	case v >= 1e6:
		v, unit = v/1e6, " M"
	case v >= 1e3:
		v, unit = v/1e3, " k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + unit
}
