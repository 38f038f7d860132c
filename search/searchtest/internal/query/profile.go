package query

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// profile is a scoring profile with the parameters of a request. Its weights change the
// scores of texts. Its functions multiply the score of a document.
//
// The service does not document the factor. Here, as in one recorded exchange, it is
// 1 + share × (boost − 1). The share is from 0 to 1, by the position of the document in the
// range of the function.
type profile struct {
	weights     map[string]float64
	functions   []scoringFunction
	aggregation string
}

// scoringFunction is one function of a profile.
type scoringFunction struct {
	path          []*stored.Field
	boost         float64
	interpolation string
	// share returns the position of a value in the range of the function: 1 at the beginning
	// of the range, 0 at its end and outside.
	share func(value []byte) float64
}

// planProfile reads the scoring profile of a search and its parameters.
func (p *searchPlan) planProfile() *reply.Error {
	a := p.args
	parameters, err := p.scoringParameters()
	if err != nil {
		return err
	}
	name := a.text("scoringProfile")
	if name == "" {
		name = p.sc.Parsed.Object.Str("defaultScoringProfile")
	}
	if name == "" {
		return nil
	}
	profiles := p.sc.Parsed.Object.Objects("scoringProfiles")
	i := slices.IndexFunc(profiles, func(o *shape.Object) bool { return o.Str("name") == name })
	if i < 0 {
		return a.refuse("scoringProfile", "The scoring profile '"+name+"' does not exist in the index.")
	}
	def := profiles[i]
	p.profile = &profile{weights: map[string]float64{}, aggregation: def.Str("functionAggregation")}
	if text := def.Object("text"); text != nil {
		if weights, ok := text.Get("weights").(*shape.Pairs); ok {
			for i, path := range weights.Names {
				p.profile.weights[path] = schema.WeightOf(weights.Values[i])
			}
		}
	}
	p.text.Weights = p.profile.weights
	for _, fn := range def.Objects("functions") {
		f, err := p.scoringFunction(fn, parameters)
		if err != nil {
			return err
		}
		p.profile.functions = append(p.profile.functions, f)
	}
	return nil
}

// scoringParameters reads the parameters by name. Each has the form name-value,value, and
// values may be in quotes.
func (p *searchPlan) scoringParameters() (map[string][]string, *reply.Error) {
	out := make(map[string][]string)
	for _, text := range p.args.texts("scoringParameters") {
		name, values, found := strings.Cut(text, "-")
		if !found || name == "" {
			return nil, p.args.refuse("scoringParameter", "Expected a name and values, name-value1,value2, in '"+text+"'.")
		}
		list, ok := splitQuoted(values)
		if !ok {
			return nil, p.args.refuse("scoringParameter", "The values of the scoring parameter '"+name+"' have a quote that is not closed.")
		}
		out[name] = list
	}
	return out, nil
}

// splitQuoted splits a list at commas outside of single quotes. A doubled quote within quotes
// stands for one.
func splitQuoted(text string) (list []string, ok bool) {
	var value strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' && quoted && i+1 < len(text) && text[i+1] == '\'':
			value.WriteByte(c)
			i++
		case c == '\'':
			quoted = !quoted
		case c == ',' && !quoted:
			list = append(list, value.String())
			value.Reset()
		default:
			value.WriteByte(c)
		}
	}
	return append(list, value.String()), !quoted
}

func (p *searchPlan) scoringFunction(def *shape.Object, parameters map[string][]string) (scoringFunction, *reply.Error) {
	f := scoringFunction{path: p.sc.Find(def.Str("fieldName")), boost: def.Number("boost"), interpolation: def.Str("interpolation")}
	missing := func(name string) *reply.Error {
		return p.args.refuse("scoringParameter", "Expected 1 parameter(s) but 0 were supplied. The scoring parameter '"+name+"' is missing.")
	}
	switch def.Str("type") {
	case "magnitude":
		o := def.Object("magnitude")
		f.share = magnitude(f.path[len(f.path)-1].Type, o.Number("boostingRangeStart"), o.Number("boostingRangeEnd"), o.Bool("constantBoostBeyondRange"))
	case "freshness":
		f.share = freshness(time.Now(), parseDuration(def.Object("freshness").Str("boostingDuration")))
	case "distance":
		o := def.Object("distance")
		name := o.Str("referencePointParameter")
		values := parameters[name]
		if values == nil {
			return f, missing(name)
		}
		lon, lat, ok := parsePosition(values)
		if !ok {
			return f, p.args.refuse("scoringParameter", "The scoring parameter '"+name+"' must be a longitude and a latitude: "+name+"--122.2,44.8.")
		}
		f.share = distance(lon, lat, o.Number("boostingDistance"))
	case "tag":
		name := def.Object("tag").Str("tagsParameter")
		values := parameters[name]
		if values == nil {
			return f, missing(name)
		}
		f.share = tags(f.path[len(f.path)-1].Collection, values)
	}
	return f, nil
}

// parsePosition reads a longitude and a latitude.
func parsePosition(values []string) (lon, lat float64, ok bool) {
	if len(values) != 2 {
		return 0, 0, false
	}
	lon, err1 := strconv.ParseFloat(strings.TrimSpace(values[0]), 64)
	lat, err2 := strconv.ParseFloat(strings.TrimSpace(values[1]), 64)
	return lon, lat, err1 == nil && err2 == nil && math.Abs(lon) <= 180 && math.Abs(lat) <= 90
}

// magnitude is 0 at start and 1 at end.
func magnitude(typ stored.Type, start, end float64, beyond bool) func([]byte) float64 {
	return func(value []byte) float64 {
		var v float64
		switch typ {
		case stored.Int32:
			v = float64(int32(binary.LittleEndian.Uint32(value)))
		case stored.Int64:
			v = float64(int64(binary.LittleEndian.Uint64(value)))
		default:
			v = math.Float64frombits(binary.LittleEndian.Uint64(value))
		}
		share := (v - start) / (end - start)
		switch {
		case share >= 0 && share <= 1:
			return share
		case share > 1 && beyond:
			return 1
		}
		return 0
	}
}

// freshness is 1 now and 0 after the duration, in seconds. A negative duration is for times
// in the future.
func freshness(now time.Time, seconds float64) func([]byte) float64 {
	return func(value []byte) float64 {
		age := float64(now.UnixMilli()-int64(binary.LittleEndian.Uint64(value))) / 1000
		if share := 1 - age/seconds; share >= 0 && share <= 1 {
			return share
		}
		return 0
	}
}

// distance is 1 at the point and 0 at the given distance in kilometres from it.
func distance(lon, lat, kilometres float64) func([]byte) float64 {
	return func(value []byte) float64 {
		d := odata.Distance(
			lon, lat,
			math.Float64frombits(binary.LittleEndian.Uint64(value)), math.Float64frombits(binary.LittleEndian.Uint64(value[8:])),
		)
		return max(1-d/kilometres, 0)
	}
}

// tags is the share of the wanted tags that a document has.
func tags(collection bool, wanted []string) func([]byte) float64 {
	return func(value []byte) float64 {
		found := 0
		has := func(tag []byte) {
			if slices.Contains(wanted, string(tag)) {
				found++
			}
		}
		if !collection {
			has(value)
		} else {
			for rest := value; len(rest) > 0; {
				var element []byte
				element, rest = stored.NextElement(rest, 0)
				has(element)
			}
		}
		return min(float64(found)/float64(len(wanted)), 1)
	}
}

// boost returns the factor for the score of a document.
func (p *profile) boost(document []byte) float64 {
	if len(p.functions) == 0 {
		return 1
	}
	var total float64 // sum of the additions of all functions
	for i := range p.functions {
		b := p.functions[i].addition(document)
		switch p.aggregation {
		case "minimum":
			if i == 0 || b < total {
				total = b
			}
		case "maximum":
			if i == 0 || b > total {
				total = b
			}
		case "firstMatching":
			if b != 0 {
				return 1 + b
			}
		default: // sum, average
			total += b
		}
	}
	if p.aggregation == "average" {
		total /= float64(len(p.functions))
	}
	return max(1+total, 0) // several boosts below 1 may add up to a negative number
}

// addition returns what a function adds to the factor of a document.
func (f *scoringFunction) addition(document []byte) float64 {
	value := document
	for _, field := range f.path {
		var found bool
		if value, found = stored.FindValue(value, field.Ordinal); !found {
			return 0
		}
	}
	share := f.share(value)
	switch f.interpolation {
	case "constant":
		if share > 0 {
			share = 1
		}
	case "quadratic": // decreases slowly at first
		share = 1 - (1-share)*(1-share)
	case "logarithmic": // decreases fast at first
		share = 1 - math.Log1p((1-share)*(math.E-1))
	}
	return share * (f.boost - 1)
}

// parseDuration reads an xs:dayTimeDuration in seconds, such as P1DT2H3M4.5S, optionally with
// a minus. The definition of the index was checked for its form. It may be longer than a
// time.Duration can hold.
func parseDuration(text string) float64 {
	sign := 1.0
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = -1, rest
	}
	units := map[byte]float64{'D': 24 * 3600, 'H': 3600, 'M': 60, 'S': 1}
	total, start := 0.0, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c == 'P' || c == 'T':
			start = i + 1
		case units[c] != 0:
			n, _ := strconv.ParseFloat(text[start:i], 64)
			total += n * units[c]
			start = i + 1
		}
	}
	return sign * total
}
