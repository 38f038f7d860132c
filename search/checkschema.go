package search

import (
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// documentShape describes a type of documents for Check.
type documentShape struct {
	name     string
	fields   []models.SearchField
	unknown  error  // why there are no fields
	keyField string // in JSON, "" if the type names none
	badKey   bool   // the problem was reported already
}

// schema compares the type of documents with the definition of the index.
func (k *checker) schema(shape documentShape) {
	k.key(shape)
	if shape.unknown != nil {
		k.unchecked(shape.unknown.Error(), shape.unknown, CheckMissingField, CheckFieldType)
		return
	}
	k.fields(shape.name, "", shape.fields, k.report.Index.Fields)
}

// key compares the key fields.
func (k *checker) key(shape documentShape) {
	key, ok := k.report.Index.KeyField()
	switch {
	case !ok, shape.badKey:
	case shape.keyField == key.Name:
	case shape.keyField != "":
		k.found(&CheckProblem{
			Kind: CheckKeyField, Field: shape.keyField, Want: shape.keyField, Have: key.Name,
			Problem: fmt.Sprintf("it is the key of %s, and the key of the index is %s", shape.name, key.Name),
			Hint:    `put the tag search:"key" on the field that is the key, or correct its name in the json tag`,
		})
	case k.use.writes() && shape.unknown == nil && named(shape.fields, key.Name) == nil:
		k.found(&CheckProblem{
			Kind: CheckKeyField, Field: key.Name, Want: key.Name,
			Problem: fmt.Sprintf("it is the key of the index, and %s does not have it", shape.name),
			Hint:    `add it, with the tag search:"key"`,
		})
	}
}

// fields compares the fields of a struct with those of the index or of a complex field. in is the path of the complex
// field, with a slash at its end.
func (k *checker) fields(name, in string, ours, theirs []models.SearchField) {
	for _, want := range ours {
		path := in + want.Name
		have := named(theirs, want.Name)
		if have == nil {
			k.missing(name, path, want, theirs)
			continue
		}
		if want.Type == "" {
			k.report.Skipped = append(k.report.Skipped, CheckSkipped{
				Kind: CheckFieldType, Field: path,
				Reason: fmt.Sprintf(`its Go type does not say what it is in JSON: say so with the tag search:"type=%s"`, have.Type),
			})
		} else if problem := misfit(want.Type, have.Type, k.use); problem != "" {
			k.found(&CheckProblem{
				Kind: CheckFieldType, Field: path, Want: string(want.Type), Have: string(have.Type),
				Problem: fmt.Sprintf("it is %s in %s and %s in the index: %s", want.Type, name, have.Type, problem),
				Hint:    "change its Go type, or say in its tag search:\"type=…\" what it holds",
			})
			continue
		}
		k.attributes(name, path, want, *have)
		if want.Fields != nil {
			k.fields(name, path+"/", want.Fields, have.Fields)
		}
	}
}

// missing reports a field that the index does not have.
func (k *checker) missing(name, path string, want models.SearchField, theirs []models.SearchField) {
	p := &CheckProblem{
		Kind: CheckMissingField, Field: path, Want: string(want.Type),
		Problem: fmt.Sprintf("%s has it and the index does not", name),
		Hint:    `add it to the index (IndexClient.UpdateIndex), or leave it out of documents with the tag json:"-"`,
	}
	if k.use.writes() {
		p.Problem += ", which refuses documents with it"
	}
	for _, f := range theirs {
		if strings.EqualFold(f.Name, want.Name) {
			p.Have = f.Name
			p.Hint = fmt.Sprintf("the index has %q: names are case-sensitive, so correct the json tag", f.Name)
		}
	}
	k.found(p)
}

// attributes compares attributes and dimensions of a field.
func (k *checker) attributes(name, path string, want, have models.SearchField) {
	if want.Fields == nil && k.use.reads() && !isFalse(want.Retrievable) && isFalse(have.Retrievable) {
		k.found(&CheckProblem{
			Kind: CheckHiddenField, Field: path, Want: "retrievable", Have: "hidden",
			Problem: fmt.Sprintf("%s has it and the index never returns it", name),
			Hint:    "make it retrievable, which IndexClient.UpdateIndex can, or say in its tag that it is search:\"hidden\"",
		})
	}
	if want.Type.IsVector() {
		want.Searchable = nil // a vector field is always searchable, and no tag sets it
	}
	for _, a := range []struct {
		name       string
		want, have *bool
	}{
		{"searchable", want.Searchable, have.Searchable},
		{"filterable", want.Filterable, have.Filterable},
		{"sortable", want.Sortable, have.Sortable},
		{"facetable", want.Facetable, have.Facetable},
	} {
		if a.want != nil && *a.want && isFalse(a.have) {
			k.found(&CheckProblem{
				Kind: CheckAttribute, Field: path, Want: a.name, Have: "not " + a.name,
				Problem: fmt.Sprintf("the tag makes the field %s, but the index does not: queries that rely on it fail", a.name),
				Hint:    "make a new index with the field as the tag says, or correct the tag",
			})
		}
	}
	if want.Dimensions != nil && have.Dimensions != nil && *want.Dimensions != *have.Dimensions {
		k.found(&CheckProblem{
			Kind: CheckAttribute, Field: path, Want: fmt.Sprintf("%d dimensions", *want.Dimensions), Have: fmt.Sprintf("%d dimensions", *have.Dimensions),
			Problem: fmt.Sprintf("its vectors have %d dimensions in %s and %d in the index", *want.Dimensions, name, *have.Dimensions),
			Hint:    "use the model for embeddings that the index was made for, or make a new index",
		})
	}
}

// misfit returns why a field of type ours does not fit one of type theirs, "" if it does.
func misfit(ours, theirs models.DataType, use CheckUse) string {
	our, isList := ours.Element()
	their, areLists := theirs.Element()
	switch {
	case isList && !areLists:
		return "a list does not fit a single value"
	case !isList && areLists:
		return "a single value does not fit a list"
	case !isList:
		our, their = ours, theirs
	}
	if (our == models.DataTypeComplex) != (their == models.DataTypeComplex) {
		return "only one of them has fields of its own"
	}
	if use.reads() && !holds(our, their) {
		return "not every value of the index can be read into it"
	}
	if use.writes() && !takes(their, our) {
		return "the index refuses its JSON"
	}
	return ""
}

// whole maps the types of whole numbers to their size in bits. Unsigned types get one bit more, because only a larger
// signed type holds them.
var whole = map[models.DataType]int{
	models.DataTypeSByte: 8, models.DataTypeByte: 9, models.DataTypeInt16: 16, models.DataTypeInt32: 32, models.DataTypeInt64: 64,
}

func fraction(t models.DataType) bool {
	return t == models.DataTypeDouble || t == models.DataTypeSingle || t == models.DataTypeHalf
}

// holds reports whether Go values of our type can hold the values that the index returns of their type.
func holds(ours, theirs models.DataType) bool {
	switch {
	case ours == theirs:
		return true
	case ours == models.DataTypeString:
		return theirs == models.DataTypeDateTimeOffset
	case fraction(ours):
		return fraction(theirs) || whole[theirs] > 0
	case ours == models.DataTypeSByte || ours == models.DataTypeByte:
		return false
	}
	return whole[ours] > 0 && whole[theirs] > 0 && whole[ours] >= whole[theirs]
}

// takes reports whether the index accepts values of our type for a field of their type.
func takes(theirs, ours models.DataType) bool {
	switch {
	case ours == theirs, fraction(theirs) && (fraction(ours) || whole[ours] > 0), whole[theirs] > 0 && whole[ours] > 0:
		return true
	case theirs == models.DataTypeString:
		return ours == models.DataTypeDateTimeOffset
	}
	return theirs == models.DataTypeDateTimeOffset && ours == models.DataTypeString
}

// named returns the field with this name, or nil.
func named(fields []models.SearchField, name string) *models.SearchField {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// isFalse reports whether an attribute is off. A missing one is not.
func isFalse(attribute *bool) bool { return attribute != nil && !*attribute }
