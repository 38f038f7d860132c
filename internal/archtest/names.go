package archtest

import (
	"cmp"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// ofService are the packages whose number of names depends on the service's API.
var ofService = []string{"search", "models", "models/indexers", "models/skills", "models/knowledge"}

// harness are the folders that only tests and the project's own programs import. Use by these counts as use by
// tests.
var harness = []string{
	"internal/archtest", "internal/commits", "internal/disk/disktest", "internal/fleetmodel", "internal/interop", "internal/mutate",
	"internal/othersystems", "internal/queuefiles", "internal/queuehistory", "internal/queuekill", "internal/queuelab", "internal/reached", "internal/release",
	"internal/sendertest", "internal/soak", "internal/spec/...", "internal/testkit/...",
	"bufferedsender/queue/queuetest", "search/rebuild/internal/storetest",
}

// Name is an exported name: a function, type, constant, variable, or a method of an exported type, declared or
// promoted from an embedded unexported type. Fields and methods of interfaces belong to their types.
type Name struct {
	// Folder is the folder of the package. Text is the name; for a method Type.Method.
	Folder, Text string
}

func (n Name) String() string { return n.Folder + "." + n.Text }

// Exported returns the exported names of the packages that users can import.
func Exported(tree fs.FS) ([]Name, error) {
	names := make(map[Name]bool)
	inner := make(map[Name][]string) // embedded types by the embedding type
	methods := make(map[Name][]string)
	enter := func(folder string) bool { return product(folder) && folder != "cmd" && path.Base(folder) != "internal" }
	err := walk(tree, enter, func(file string, f *ast.File, _ *token.FileSet) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		folder := path.Dir(file)
		for _, decl := range f.Decls {
			for _, text := range declared(decl) {
				names[Name{folder, text}] = true
			}
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.IsExported() {
					of := Name{folder, receiver(d.Recv.List[0].Type)}
					methods[of] = append(methods[of], d.Name.Name)
				}
			case *ast.GenDecl:
				for of, embedded := range embedding(d) {
					inner[Name{folder, of}] = embedded
				}
			}
		}
	})
	for of, embedded := range inner {
		for _, e := range embedded {
			for _, m := range methods[Name{of.Folder, e}] {
				names[Name{of.Folder, of.Text + "." + m}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b Name) int { return cmp.Compare(a.String(), b.String()) }), err
}

// declared returns the exported names of a declaration.
func declared(decl ast.Decl) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) && d.Name.IsExported() {
			names = append(names, of+"."+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	}
	return names
}

// embedding returns the unexported types embedded in exported structs, by struct.
func embedding(d *ast.GenDecl) map[string][]string {
	all := make(map[string][]string)
	for _, spec := range d.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok || !t.Name.IsExported() {
			continue
		}
		s, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range s.Fields.List {
			if of := receiver(field.Type); len(field.Names) == 0 && !ast.IsExported(of) {
				all[t.Name.Name] = append(all[t.Name.Name], of)
			}
		}
	}
	return all
}

// receiver returns the type name of a receiver.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// CheckNames returns one line for each exported name without a justification, outside the packages of the service. A
// name is justified if another package uses it, if a row of the list names it with a task for a user, if it is a
// value of a justified type, or if it is the type of a parameter or result of a justified function. It also returns
// a line for each unnecessary name in a row. A row has the form "folder: Name Name.Method — task".
func CheckNames(names []Name, rows string, u *Usage) (broken []string) {
	tasks := make(map[Name]bool)
	for line := range strings.Lines(rows) {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row, task, _ := strings.Cut(line, " — ")
		folder, list, _ := strings.Cut(row, ":")
		if strings.TrimSpace(task) == "" {
			broken = append(broken, strings.TrimSpace(row)+": got a row without a task, want what a user does with it")
		}
		for _, text := range strings.Fields(list) {
			n := Name{folder, text}
			tasks[n] = true
			if !slices.Contains(names, n) {
				broken = append(broken, n.String()+": got a row about a name that does not exist: delete it")
			} else if u.used[n] || u.belongs(n, nil) {
				broken = append(broken, n.String()+": got a row about a name that code uses: delete it")
			}
		}
	}
	for _, n := range names {
		if !slices.Contains(ofService, n.Folder) && !u.used[n] && !tasks[n] && !u.belongs(n, tasks) {
			broken = append(broken, n.String()+": no code of another package uses it: unexport it, or name the task of a user in internal/archtest/names.txt")
		}
	}
	return broken
}

// belongs reports whether an unused name belongs to a name that is used or has a row.
func (u *Usage) belongs(n Name, tasks map[Name]bool) bool {
	return slices.ContainsFunc(u.with[n], func(of Name) bool { return u.used[of] || tasks[of] })
}
