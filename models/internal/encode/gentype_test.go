package encode_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// generator makes a type out of choices, and then values of it.
type generator struct {
	*choices
	embeds []reflect.Type // what a struct may embed, the generated structs among them
	left   int            // how many values may still be made
}

func newGenerator(c *choices) *generator {
	return &generator{choices: c, embeds: embeddable, left: 400}
}

// anyType returns a type that is at most depth types deep.
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

// structType returns a struct of up to seven fields. Later structs may embed it.
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

// fieldName returns names that meet those of other structs. The index keeps them
// apart within one.
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

// tagNames are names for the tag: good ones, odd ones, ones that are not
// accepted, and those of other fields.
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
