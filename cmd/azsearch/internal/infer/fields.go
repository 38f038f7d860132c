package infer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/models"
)

// fields returns the fields of a shape.
func (s *shape) fields(notes *[]string, path string) (fields []models.SearchField) {
	taken := map[string]bool{}
	for _, name := range s.names {
		if legalName.MatchString(name) {
			s.values[name].as, taken[name] = name, true
		}
	}
	for _, name := range s.names {
		if v := s.values[name]; v.as == "" {
			v.as = legal(name, taken)
			taken[v.as] = true
		}
		f := s.values[name].field(name, notes, path)
		if f.Name != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

var legalName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// legal makes a name of a field that is not taken from the name of a column.
func legal(column string, taken map[string]bool) string {
	base := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(column, "_"), "_")
	if !legalName.MatchString(base[:min(len(base), 1)]) {
		base = "f" + base
	}
	base = base[:min(len(base), 120)]
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

func (v *value) field(name string, notes *[]string, path string) models.SearchField {
	note := func(format string, args ...any) {
		*notes = append(*notes, fmt.Sprintf("%s%s: ", path, name)+fmt.Sprintf(format, args...))
	}
	f := models.SearchField{Name: v.as}
	switch {
	case name == f.Name:
	case path == "":
		note("not a valid field name; load with -map %s", shell.Word(name+"="+f.Name))
	default:
		note("not a valid field name; rename it to %s with -jq", f.Name)
	}
	f.Type = v.scalar()
	switch {
	case v.count == 0:
		note("no record has a value; the type is Edm.String")
	case v.lists > 0 && v.lists < v.count, v.objects > 0 && v.objects < v.count:
		note("lists, objects and single values are mixed; the field was left out")
		return models.SearchField{}
	case v.objects > 0 && len(v.inner.names) > 0:
		f.Type, f.Fields = models.DataTypeComplex, v.inner.fields(notes, path+name+"/")
	case v.lists > 0 && v.element.objects > 0 && len(v.element.inner.names) > 0:
		f.Type, f.Fields = models.Collection(models.DataTypeComplex), v.element.inner.fields(notes, path+name+"/")
	case v.objects > 0, v.lists > 0 && v.element.objects > 0:
		note("objects without members; the field was left out")
		return models.SearchField{}
	case v.lists > 0 && v.element.lists > 0:
		note("lists of lists cannot be indexed; the field was left out")
		return models.SearchField{}
	case v.lists > 0 && v.length >= 32 && v.element.number == v.element.count && path == "":
		f.Type, f.Dimensions, f.VectorSearchProfile, f.Searchable = models.Collection(models.DataTypeSingle), new(v.length), "vectors", new(true)
	case v.lists > 0:
		f.Type = models.Collection(v.element.scalar())
		if why := v.element.widened(); why != "" {
			note("a collection of %s", why)
		}
	default:
		if why := v.widened(); why != "" {
			note("%s", why)
		}
	}
	return f
}

// scalar returns the narrowest type that holds every value.
func (v *value) scalar() models.DataType {
	switch v.count {
	case 0:
		return models.DataTypeString
	case v.whole32:
		return models.DataTypeInt32
	case v.whole64:
		return models.DataTypeInt64
	case v.number, v.number + v.special:
		return models.DataTypeDouble
	case v.flag:
		return models.DataTypeBoolean
	case v.moment:
		return models.DataTypeDateTimeOffset
	case v.points:
		return models.DataTypeGeographyPoint
	}
	return models.DataTypeString
}

// key returns the name of the key field, "" if there is none. It prefers a field named id or key, then one whose
// name ends so, then a string field. A field named id or key wins over another field whose values are distinct only
// by chance, even if its own values are not valid keys, because load -key can encode them.
func (i *inference) key() (best string) {
	rank, named := len(keyReasons), ""
	for _, name := range i.top.names {
		v := i.top.values[name]
		r := 3
		switch lower := strings.ToLower(name); {
		case lower == "id" || lower == "key":
			r = 0
		case strings.HasSuffix(lower, "id"), strings.HasSuffix(lower, "key"):
			r = 1
		case v.text == v.count:
			r = 2
		}
		if v.legal && v.count == i.records && r < rank && v.moment == 0 && v.number == v.whole64 {
			best, rank = name, r
		} else if r == 0 && v.count == i.records {
			named = name
		}
	}
	if rank > 1 && named != "" {
		i.notes = append(i.notes, fmt.Sprintf("some values of %q are not valid keys, or not distinct: load with -key %s, which derives valid keys from them", named, shell.Word(named)))
		return named
	}
	if best != "" {
		i.notes = append(i.notes, fmt.Sprintf("the key is %q: %s (its values are distinct, valid keys in %s)", best, keyReasons[rank], amount.Of(i.records, "record")))
	}
	return best
}

// keyReasons says by rank why a field was chosen as the key.
var keyReasons = []string{"its name says so", "its name ends like that of a key", "no name says so, and it is text", "no name says so, and no text field is possible"}
