package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sourceTree is what a root holds: its packages, not yet parsed.
type sourceTree struct {
	packages []sourceFolder
	bytes    int64
}

// sourceFolder is a folder with Go files: usually one package and its tests.
type sourceFolder struct {
	dir        string // where it is
	rel        string // from the root, with slashes, "" for the root itself
	importPath string
	files      []string // names, sorted
	bytes      int64
}

// findSource lists the Go files below root, tests included, package by package.
// Like the go command it passes over folders that are called testdata or begin
// with a dot or an underscore.
func findSource(root string) (sourceTree, error) {
	// A root that is a symbolic link, as GOROOT is on some systems, would look
	// like a file to WalkDir.
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return sourceTree{}, err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return sourceTree{}, cmp.Or(err, fmt.Errorf("%s is not a folder", root))
	}
	prefix := modulePath(root)
	folders := map[string]*sourceFolder{}
	var tree sourceTree
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != root && (base == "testdata" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || filepath.Ext(base) != ".go" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		dir := filepath.Dir(name)
		f := folders[dir]
		if f == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			if rel = filepath.ToSlash(rel); rel == "." {
				rel = ""
			}
			f = &sourceFolder{dir: dir, rel: rel, importPath: path.Join(prefix, rel)}
			if f.importPath == "" {
				f.importPath = "."
			}
			folders[dir] = f
		}
		f.files = append(f.files, base)
		f.bytes += info.Size()
		tree.bytes += info.Size()
		return nil
	})
	for _, f := range folders {
		tree.packages = append(tree.packages, *f)
	}
	// The largest first: one that came last would keep a single goroutine busy
	// while the others have nothing left to do.
	slices.SortFunc(tree.packages, func(a, b sourceFolder) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.rel, b.rel))
	})
	return tree, err
}

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// modulePath returns what the import paths of a tree begin with: the path of its
// module, or "" for the standard library and for a tree without go.mod.
func modulePath(root string) string {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	found := moduleLine.FindSubmatch(mod)
	if found == nil || string(found[1]) == "std" {
		return ""
	}
	return string(found[1])
}
