package infer

import (
	"fmt"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/models"
)

// class is the narrowest type that holds a single value.
type class int

const (
	whole32 class = iota
	whole64
	huge // digits beyond Edm.Int64
	number
	special
	flag
	moment
	point
	text
	classes
)

// evidence is the number of values of a class, and the first of them.
type evidence struct {
	n     int64
	value string
	at    string
}

func (v *value) saw(c class, value string, i *inference) {
	e := &v.evidence[c]
	if e.n++; e.n > 1 {
		return
	}
	const most = 40
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "…"
	}
	e.value, e.at = fmt.Sprintf("%q", value), i.place()
}

// place returns the file and the line of the record that is read.
func (i *inference) place() string { return fmt.Sprintf("%s:%d", i.name, i.line) }

// widened returns a note on the values that made the type wider than others need, "" if there are none.
func (v *value) widened() string {
	of := func(n int64) string {
		return fmt.Sprintf("%d of %s", n, amount.Of(v.count, "value"))
	}
	t := v.scalar()
	if big := v.evidence[huge]; big.n > 0 && t == models.DataTypeDouble {
		return fmt.Sprintf("%s, because Edm.Int64 cannot hold %s (%s; %s), and a load rounds it", t, big.value, big.at, of(big.n))
	}
	var groups []evidence // values that need different types; the last one decides
	add := func(from ...class) {
		var sum evidence
		for _, c := range from {
			e := v.evidence[c]
			if e.n += sum.n; sum.n > 0 {
				e.value, e.at = sum.value, sum.at
			}
			sum = e
		}
		if sum.n > 0 {
			groups = append(groups, sum)
		}
	}
	switch t {
	case models.DataTypeInt64:
		add(whole32)
		add(whole64)
	case models.DataTypeDouble:
		add(whole32, whole64)
		add(number, special)
	case models.DataTypeString:
		add(whole32, whole64, huge, number)
		add(flag)
		add(moment)
		add(point)
		add(text, special)
	}
	if len(groups) < 2 {
		return ""
	}
	least := groups[len(groups)-1]
	if t == models.DataTypeString && v.evidence[text].n+v.evidence[special].n == 0 { // no single value needs text
		for _, g := range groups {
			if g.n < least.n {
				least = g
			}
		}
	}
	return fmt.Sprintf("%s, because of %s (%s; %s)", t, least.value, least.at, of(least.n))
}
