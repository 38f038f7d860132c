package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
)

// goField is a field of a struct in this module, by its JSON name.
type goField struct {
	typ      string
	omitZero bool
}

// source has the declarations of the packages of models.
type source struct {
	structs   map[string]map[string]goField // by "indexers.Indexer"
	constants map[string]map[string]bool    // values, by package
	literals  map[string]bool               // every string
	tags      map[string]bool               // every name in a tag
}

func read(t *testing.T) source {
	t.Helper()
	s := source{map[string]map[string]goField{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}}
	embedded := map[string][]string{}
	for _, folder := range []string{"models", "models/indexers", "models/skills", "models/knowledge", "search"} {
		packages, err := parser.ParseDir(token.NewFileSet(), "../../"+folder, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // syntax suffices, without types
		require.NoError(t, err)
		for name, p := range packages {
			s.constants[name] = map[string]bool{}
			ast.Inspect(p, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if fields, is := n.Type.(*ast.StructType); is {
						s.structs[name+"."+n.Name.Name], embedded[name+"."+n.Name.Name] = fieldsOf(name, fields)
					}
				case *ast.ValueSpec:
					for _, v := range n.Values {
						if l, is := v.(*ast.BasicLit); is && l.Kind == token.STRING {
							s.constants[name][unquoted(l)] = true
						}
					}
				case *ast.BasicLit:
					if n.Kind == token.STRING {
						s.literals[unquoted(n)] = true
					}
				}
				return true
			})
		}
	}
	for _, fields := range s.structs {
		for wire := range fields {
			s.tags[wire] = true
		}
	}
	for name, bases := range embedded {
		for _, base := range bases {
			for wire, f := range s.structs[base] {
				s.structs[name][wire] = f
			}
		}
	}
	return s
}

func unquoted(l *ast.BasicLit) string {
	text, _ := strconv.Unquote(l.Value)
	return text
}

func fieldsOf(folder string, fields *ast.StructType) (byWire map[string]goField, embedded []string) {
	byWire = map[string]goField{}
	for _, f := range fields.Fields.List {
		if len(f.Names) == 0 {
			if id, is := f.Type.(*ast.Ident); is {
				embedded = append(embedded, folder+"."+id.Name)
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		wire, options, _ := strings.Cut(tag, ",")
		byWire[wire] = goField{typeText(f.Type), strings.Contains(options, "omitzero")}
	}
	return byWire, embedded
}

func typeText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return "*" + typeText(x.X)
	case *ast.ArrayType:
		return "[]" + typeText(x.Elt)
	case *ast.MapType:
		return "map[" + typeText(x.Key) + "]" + typeText(x.Value)
	case *ast.SelectorExpr:
		return typeText(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return "?"
}

// TestModelsHaveWhatStableVersionsHave holds the packages of models against the
// specification: each model, property and value that a stable version has is there, or is
// named in the tables of exceptions with the reason. A row that is not needed is a failure.
func TestModelsHaveWhatStableVersionsHave(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	ours := read(t)
	used := map[string]bool{}
	except := func(item string) bool {
		if exceptions[item] != "" {
			used[item] = true
			return true
		}
		return false
	}
	enums := map[string]string{} // the package that uses one
	for _, name := range s.StableModels() {
		if except(name) {
			continue
		}
		target := renamed[name]
		if target == "" {
			target = "models." + name
		}
		if target == "literals" {
			for wire, p := range properties(s, name) {
				if s.Stable(p.In()) && !except(name+"."+wire) {
					assert.True(t, ours.literals[wire] || ours.tags[wire], "%s.%s: no package has such a string", name, wire)
				}
			}
			continue
		}
		fields, found := ours.structs[target]
		if !assert.True(t, found, "%s: there is no %s", name, target) {
			continue
		}
		for wire, p := range properties(s, name) {
			item := name + "." + wire
			_, union := discriminated(s, name, wire)
			if !s.Stable(p.In()) || union || except(item) {
				continue
			}
			f, found := fields[wire]
			if !assert.True(t, found, "%s: %s has no such field", item, target) {
				continue
			}
			assert.True(t, fits(p.Type(), f.typ), "%s: %s does not fit into %s", item, p.Type(), f.typ)
			if p.Is("!") && !p.Is("R") && f.omitZero && !except(item+" required") {
				assert.Fail(t, item+": it is required, and "+target+" leaves it out when it is empty")
			}
			if _, enum, is := strings.Cut(p.Type(), "enum:"); is {
				enums[enum] = strings.Split(target, ".")[0]
				if other, _, is := strings.Cut(strings.Trim(f.typ, "*[]"), "."); is {
					enums[enum] = other
				}
			}
		}
	}
	for enum, folder := range enums {
		if except(enum) {
			continue
		}
		for value, in := range s.Enums[enum] {
			if s.Stable(spec.Set(in)) && !except(enum+"="+value) {
				assert.True(t, ours.constants[folder][value], "%s=%s: package %s has no constant for it", enum, value, folder)
			}
		}
	}
	for item, reason := range exceptions {
		assert.True(t, used[item], "the exception %s (%s) is not needed", item, reason)
	}
}

// properties returns those of a model and its bases.
func properties(s *spec.Spec, name string) map[string]spec.Property {
	all := map[string]spec.Property{}
	for ; name != ""; name = s.Models[name].Base {
		for wire, p := range s.Models[name].Properties {
			if all[wire] == "" {
				all[wire] = p
			}
		}
	}
	return all
}

// discriminated returns the discriminator of a model if wire is that member.
func discriminated(s *spec.Spec, name, wire string) (string, bool) {
	member, value, found := strings.Cut(s.Models[name].Discriminator, "=")
	return value, found && member == wire
}

// fits reports whether a type of ours holds that of the specification.
func fits(want, got string) bool {
	got = strings.TrimPrefix(got, "*")
	switch {
	case strings.HasPrefix(want, "[]"):
		return strings.HasPrefix(got, "[]") && fits(want[2:], got[2:])
	case strings.HasPrefix(want, "map:"):
		return strings.HasPrefix(got, "map[string]") || got == "json.RawMessage"
	case strings.HasPrefix(want, "enum:"), strings.HasPrefix(want, "ref:"):
		return got != "bool" && got != "int"
	}
	switch want {
	case "bool":
		return got == "bool"
	case "int":
		return got == "int" || got == "int64"
	case "float":
		return got == "float64" || got == "float32"
	case "datetime":
		return got == "time.Time"
	case "string", "duration":
		return got != "bool" && got != "int" && got != "float64"
	}
	return true
}
