package encode_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// generator draws a type, and then values of it.
type generator struct {
	*choices
	embeds []reflect.Type // types that a struct may embed, including generated structs
	left   int            // number of values that may still be generated
}

func newGenerator(c *choices) *generator {
	return &generator{choices: c, embeds: embeddable, left: 400}
}

// anyType returns a type of at most this depth.
func (g *generator) anyType(depth int) reflect.Type {
	if depth == 0 {
		return g.leaf()
	}
	switch g.n(10) {
	case 0, 1, 2:
		return g.leaf()
	case 3, 4, 5:
		return g.structType(depth - 1)
	case 6:
		return reflect.SliceOf(g.anyType(depth - 1))
	case 7:
		return reflect.ArrayOf(g.n(4), g.anyType(depth-1))
	case 8:
		return reflect.MapOf(pick(g.choices, keys), g.anyType(depth-1))
	}
	return reflect.PointerTo(g.anyType(depth - 1))
}

func (g *generator) leaf() reflect.Type {
	switch g.n(16) {
	case 0, 1, 2, 3, 4:
		return pick(g.choices, kinds)
	case 5:
		return pick(g.choices, interfaces)
	case 6:
		if g.oneIn(8) {
			return pick(g.choices, unsupported)
		}
	}
	return pick(g.choices, named)
}

// structType returns a struct of up to seven fields, which later structs may embed.
func (g *generator) structType(depth int) reflect.Type {
	fields := make([]reflect.StructField, 0, 7)
	for i := range g.n(8) {
		f := reflect.StructField{Name: g.fieldName(i), Tag: g.tag()}
		if g.oneIn(5) {
			f.Name, f.Type, f.Anonymous = "E"+strconv.Itoa(i), g.embedded(), true
		} else {
			f.Type = g.anyType(depth)
		}
		fields = append(fields, f)
	}
	t := reflect.StructOf(fields)
	g.embeds = append(g.embeds[:len(g.embeds):len(g.embeds)], t, t, t, t)
	return t
}

// fieldName returns names that collide between structs but not within one.
func (g *generator) fieldName(i int) string {
	return pick(g.choices, []string{"A", "X", "Ünï", "Ж", "F_"}) + strconv.Itoa(i)
}

func (g *generator) embedded() reflect.Type {
	t := pick(g.choices, g.embeds)
	if g.oneIn(3) {
		t = reflect.PointerTo(t)
	}
	return t
}

// tagNames has valid, unusual and invalid names for tags, and names of other fields.
var tagNames = []string{
	"", "", "", "", "name", "X", "X", "A1", "L", "b", "-", "名", "id-1", "a b", "a.b/c", "<&>", "@search.score", "!#$%&()*+-./:;<=>?@[]^_{|}~ ",
	`a"b`, `a\b`, "a'b", "a`b", "a\tb", "é\u2028", "\xff", "\u0301", "٣", " ", "🙂",
}

var tagOptions = []string{"omitempty", "omitzero", "string", "omitempty", "omitzero", "string", "", "OmitEmpty", " omitempty", "inline", "string "}

func (g *generator) tag() reflect.StructTag {
	switch g.n(12) {
	case 0, 1:
		return ""
	case 2:
		return reflect.StructTag(pick(g.choices, []string{`json:"-"`, `json:"-,"`, `json:"-,omitempty"`, `json:""`, `json:","`, `json:",,omitempty"`, `xml:"x"`, `json:name`, `json: "x"`, `json:"x`, `search:"key" json:"k"`}))
	}
	parts := []string{pick(g.choices, tagNames)}
	for range g.n(4) {
		parts = append(parts, pick(g.choices, tagOptions))
	}
	return reflect.StructTag(fmt.Sprintf("json:%q", strings.Join(parts, ",")))
}
