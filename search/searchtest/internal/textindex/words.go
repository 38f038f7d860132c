package textindex

// unit is the part of a query at one position: alternative sequences of terms.
type unit struct {
	position     int
	width        int // number of consumed positions
	alternatives [][]string
	synonyms     bool // from a synonym map, not from the analyzer
}

// slot is one term of an analyzed query.
type slot struct {
	term     string
	position int
}

// units analyzes a query text, and applies the synonyms of the field, longest match first. A term is used by one
// rule only.
func (f *field) units(text string) []unit {
	var slots []slot
	for _, t := range f.Search.Analyze(text) {
		slots = append(slots, slot{t.Text, t.Position})
	}
	var units []unit
	for i := 0; i < len(slots); {
		if rule, ok := f.rules.match(slots[i:]); ok {
			units = append(units, unit{slots[i].position, len(rule.from), rule.to, true})
			i += len(rule.from)
			continue
		}
		u := unit{position: slots[i].position, width: 1}
		for ; i < len(slots) && slots[i].position == u.position; i++ {
			u.alternatives = append(u.alternatives, []string{slots[i].term})
		}
		units = append(units, u)
	}
	return units
}

// maxVariants limits the number of phrases that synonyms make of one phrase.
const maxVariants = 1024

// phraseSlot is a place in a phrase with its alternative terms.
type phraseSlot struct {
	terms  []string
	offset int // from the first place
}

// variants returns the phrases that a quoted text means: one, or with synonyms every combination. A removed word
// leaves a gap in the offsets.
func (f *field) variants(text string) ([][]phraseSlot, error) {
	units := f.units(text)
	if len(units) == 0 {
		return nil, nil
	}
	variants := [][]phraseSlot{nil}
	for i, u := range units {
		gap := 0
		if i > 0 {
			gap = max(u.position-units[i-1].position-units[i-1].width, 0)
		}
		var next [][]phraseSlot
		for _, v := range variants {
			start := gap
			if len(v) > 0 {
				start += v[len(v)-1].offset + 1
			}
			if !u.synonyms {
				var terms []string
				for _, a := range u.alternatives {
					terms = append(terms, a[0])
				}
				next = append(next, append(v[:len(v):len(v)], phraseSlot{terms, start}))
				continue
			}
			for _, a := range u.alternatives {
				grown := v[:len(v):len(v)]
				for j, term := range a {
					grown = append(grown, phraseSlot{[]string{term}, start + j})
				}
				next = append(next, grown)
			}
		}
		if len(next) > maxVariants {
			return nil, &LimitError{What: "phrases made of one by synonyms", Limit: maxVariants}
		}
		variants = next
	}
	return variants, nil
}
