package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"strings"
)

// seenElsewhere are interfaces whose nil pointers are refused in another place, or need no check, with the reason.
var seenElsewhere = map[string]string{
	"bufferedsender/queue/queuetest.Harness.Queue": "of tests",
	"bufferedsender/queue/redisqueue.New client":   "rediskit.CheckClient",
	"search/rebuild/redisstore.New client":         "rediskit.CheckClient",
	"bufferedsender/repair.DeleteWhere matching":   "deletion.check, as index",
	"bufferedsender/repair.Repairer.Source":        "newPass, as source",
	"bufferedsender/repair.Repairer.Index":         "newPass, as index",
	"bufferedsender/repair.Repairer.Sender":        "newPass, as to",
	"search.NewClient cred":                        "authentication.check, as token",
	"search.NewIndexClient cred":                   "authentication.check, as token",
	"search.NewIndexerClient cred":                 "authentication.check, as token",
	"search.NewKnowledgeBaseClient cred":           "authentication.check, as token",
}

// CheckNils returns one line for each interface parameter or field from users that its package does not check with
// nilcheck. The constructor of such a value may have returned a nil pointer with an ignored error; in an interface,
// that is not nil.
func CheckNils(tree fs.FS, taken []Taken) (broken []string, err error) {
	asked := make(map[string]map[string]bool) // names by folder
	err = walk(tree, product, func(name string, file *ast.File, _ *token.FileSet) {
		folder := path.Dir(name)
		if asked[folder] == nil {
			asked[folder] = make(map[string]bool)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, is := call.Fun.(*ast.SelectorExpr); !is || fmt.Sprint(f.X) != "nilcheck" {
				return true
			}
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						asked[folder][id.Name] = true
					}
					return true
				})
			}
			return true
		})
	})
	for _, t := range taken {
		if !asked[t.Folder][t.name] && seenElsewhere[t.String()] == "" {
			broken = append(broken, fmt.Sprintf("%s: got no nilcheck call for this interface, want one: it may hold a nil pointer", t))
		}
	}
	return broken, err
}

// Taken is an interface value that users pass.
type Taken struct {
	Name
	name string // of the parameter or field
	text string
}

func (t Taken) String() string { return t.text }

// Taken returns the interfaces that users pass: exported fields of structs, and parameters of functions. It leaves
// out models and interfaces of the standard library.
func (u *Usage) Taken(names []Name) (taken []Taken) {
	for _, n := range names {
		p, err := u.importer.Import(Module + "/" + n.Folder)
		if err != nil || strings.HasPrefix(n.Folder, "models") {
			continue
		}
		switch obj := p.Scope().Lookup(n.Text).(type) {
		case *types.TypeName:
			s, ok := obj.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for f := range s.Fields() {
				if f.Exported() && handedOver(f.Type()) {
					taken = append(taken, Taken{n, f.Name(), n.String() + "." + f.Name()})
				}
			}
		case *types.Func:
			for v := range obj.Signature().Params().Variables() {
				if handedOver(v.Type()) {
					taken = append(taken, Taken{n, v.Name(), n.String() + " " + v.Name()})
				}
			}
		}
	}
	return taken
}

func handedOver(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && types.IsInterface(n) && n.Obj().Pkg() != nil && !standard(n.Obj().Pkg().Path())
}
