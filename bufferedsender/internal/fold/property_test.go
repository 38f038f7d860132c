package fold_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

// Random actions on one key are folded in random groups. Each action would be accepted alone (a merge may find no
// document). The index must end as after sending them one by one, for random indexes, missing and random documents.
//
// Two cases are excluded: vectors that are not stored, where folding keeps more (see
// TestFoldingCarriesAVectorThatAMergeWouldLose), and actions that the service refuses, because folded parts share one
// outcome (see TestABadPartTakesAGoodOneWithIt).
func TestFoldedOrNotTheIndexEndsInTheSameState(t *testing.T) {
	var pairs, folds, merges atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		fields := drawFields(rt, 0)
		s := newService(rt, `{"name":"index","fields":[{"name":"id","type":"Edm.String","key":true},`+definitionOf(fields)+`]}`)
		for range 8 {
			var before act
			if rapid.Bool().Draw(rt, "exists") {
				before = upload(drawMembers(rt, fields))
			}
			var actions []act
			for range rapid.IntRange(2, 6).Draw(rt, "actions") {
				typ := rapid.SampledFrom([]models.ActionType{
					models.ActionTypeUpload, models.ActionTypeMergeOrUpload, models.ActionTypeMergeOrUpload, models.ActionTypeMerge, models.ActionTypeMerge, models.ActionTypeDelete,
				}).Draw(rt, "type")
				members := ""
				if typ != models.ActionTypeDelete || rapid.Bool().Draw(rt, "more than the key") {
					members = drawMembers(rt, fields)
				}
				actions = append(actions, encoded(rt, typ, members))
			}
			groups := slices.Clone(actions)
			for len(groups) > 1 && rapid.IntRange(0, 4).Draw(rt, "go on") > 0 {
				i := rapid.IntRange(0, len(groups)-2).Draw(rt, "pair")
				pairs.Add(1)
				both, ok := folded(rt, groups[i], groups[i+1])
				if !ok {
					continue
				}
				folds.Add(1)
				if both != groups[i+1] {
					merges.Add(1)
				}
				groups = slices.Replace(groups, i, i+2, both)
			}
			require.Equal(rt, s.after(before, actions...), s.after(before, groups...),
				"before: %s\nactions: %s\nfolded: %s", before.body, actions, groups)
		}
	})
	t.Logf("%d of %d pairs folded, %d by merging", folds.Load(), pairs.Load(), merges.Load())
	require.Greater(t, folds.Load(), pairs.Load()/3, "too few pairs were folded to prove much")
	require.Greater(t, merges.Load(), pairs.Load()/20, "too few pairs were merged to prove much")
}

// field is a field of a random index.
type field struct {
	name, typ  string
	collection bool
	fields     []field // of a complex type
}

var scalars = []string{"Edm.String", "Edm.Boolean", "Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.DateTimeOffset", "Edm.GeographyPoint"}

// drawFields draws the fields of an index, or of a complex type at that depth.
func drawFields(t *rapid.T, depth int) (fields []field) {
	names := rapid.Permutation([]string{"a", "b", "c", "type", "coordinates", "city"}).Draw(t, "names")
	for _, name := range names[:rapid.IntRange(1, 4).Draw(t, "fields")] {
		f := field{name: name, collection: rapid.IntRange(0, 4).Draw(t, "collection") == 0}
		if depth < 3 && rapid.IntRange(0, 2).Draw(t, "complex") > 0 {
			f.typ, f.fields = "Edm.ComplexType", drawFields(t, depth+1)
		} else {
			f.typ = rapid.SampledFrom(scalars).Draw(t, "type")
		}
		fields = append(fields, f)
	}
	return fields
}

// definitionOf returns the fields of a definition, without brackets.
func definitionOf(fields []field) string {
	var all []string
	for _, f := range fields {
		typ := f.typ
		if f.collection {
			typ = "Collection(" + typ + ")"
		}
		text := fmt.Sprintf(`{"name":"%s","type":"%s"`, f.name, typ)
		if f.fields != nil {
			text += `,"fields":[` + definitionOf(f.fields) + `]`
		}
		all = append(all, text+"}")
	}
	return strings.Join(all, ",")
}

// drawMembers draws some of the fields in any order, as the members of a JSON object, without the braces.
func drawMembers(t *rapid.T, fields []field) string {
	var members []string
	for _, i := range rapid.Permutation(indexes(len(fields))).Draw(t, "order") {
		f := fields[i]
		what := rapid.IntRange(0, 7).Draw(t, "what")
		if what < 2 {
			continue
		}
		name := f.name
		if rapid.IntRange(0, 9).Draw(t, "escaped") == 0 {
			name = fmt.Sprintf(`\u%04x`, name[0]) + name[1:]
		}
		value := "null"
		if what > 2 {
			value = drawValue(t, f)
		}
		members = append(members, `"`+name+`":`+value)
	}
	return strings.Join(members, ",")
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// drawValue draws a value other than null.
func drawValue(t *rapid.T, f field) string {
	if f.collection {
		f.collection = false
		var elements []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			elements = append(elements, drawValue(t, f))
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
	n := rapid.IntRange(0, 3).Draw(t, "value")
	switch f.typ {
	case "Edm.ComplexType":
		if n == 0 {
			return "{}"
		}
		return "{" + drawMembers(t, f.fields) + "}"
	case "Edm.String":
		return [...]string{`""`, `"a"`, `"\"}{\\"`, `"üb\u0065r"`}[n]
	case "Edm.Boolean":
		return [...]string{`true`, `false`, `true`, `false`}[n]
	case "Edm.Double":
		return [...]string{`1.50`, `"INF"`, `-2e-3`, `"NaN"`}[n]
	case "Edm.DateTimeOffset":
		return fmt.Sprintf(`"202%d-01-18T00:00:00Z"`, n)
	case "Edm.GeographyPoint":
		point := []string{`"type":"Point"`, fmt.Sprintf(`"coordinates":[%d,%d.5]`, n, n)}
		if crs := rapid.IntRange(0, 4).Draw(t, "crs"); crs == 0 {
			point = append(point, `"crs":null`)
		} else if crs == 1 {
			point = append(point, `"crs":{"type":"name","properties":{"name":"EPSG:4326"}}`)
		}
		return "{" + strings.Join(rapid.Permutation(point).Draw(t, "point"), ",") + "}"
	case "Edm.Int64":
		return [...]string{`0`, `9007199254740993`, `-9223372036854775808`, `1`}[n]
	}
	return fmt.Sprint(n)
}

// encoded is the action as the sender encodes it.
func encoded(t tb, typ models.ActionType, members string) act {
	if members == "" && typ == models.ActionTypeDelete {
		return act{typ, string(models.AppendDelete(nil, "id", "1"))}
	}
	if members != "" {
		members = "," + members
	}
	body, err := models.AppendAction(nil, typ, rawDocument(`{"id":"1"`+members+`}`))
	require.NoError(t, err)
	return act{typ, string(body)}
}

// rawDocument is a document that encodes itself.
type rawDocument string

func (d rawDocument) MarshalJSON() ([]byte, error) { return []byte(d), nil }
