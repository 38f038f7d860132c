package declarations

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Tree is what a root holds: its packages, not yet parsed.
type Tree struct {
	// Packages are the folders with Go files, the largest first.
	Packages []Folder
	// Bytes is the size of all of it.
	Bytes int64
}

// Folder is a folder with Go files: usually one package and its tests.
type Folder struct {
	// ImportPath is the folder below the root, which in the standard library is the path of the package.
	ImportPath string
	// Files are the names of the files, sorted.
	Files []string
	// Bytes is their size.
	Bytes int64

	dir string // where it is
	rel string // from the root, with slashes, "" for the root itself
}

// StandardLibrary returns the folder with the source of Go that this program was
// built with, or "" if the program does not know it: one that was built with
// -trimpath does not.
func StandardLibrary() string {
	root := runtime.GOROOT() //nolint:staticcheck // deprecated because a binary may be moved to another machine; go run makes none that is
	if root == "" {
		return ""
	}
	return root + "/src"
}

// Find lists the Go files below root, tests included, package by package. Like
// the go command it passes over folders that are called testdata or begin with a
// dot or an underscore.
func Find(root string) (Tree, error) {
	if root == "" {
		return Tree{}, errors.New("this program does not know its GOROOT: name a folder with -root")
	}
	// A root that is a symbolic link, as GOROOT is on some systems, would look
	// like a file to WalkDir.
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return Tree{}, err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return Tree{}, cmp.Or(err, fmt.Errorf("%s is not a folder", root))
	}
	folders := map[string]*Folder{}
	var tree Tree
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
			f = &Folder{dir: dir, rel: rel, ImportPath: cmp.Or(rel, ".")}
			folders[dir] = f
		}
		f.Files = append(f.Files, base)
		f.Bytes += info.Size()
		tree.Bytes += info.Size()
		return nil
	})
	if err == nil && len(folders) == 0 {
		err = fmt.Errorf("there is no Go source in %s", root)
	}
	for _, f := range folders {
		tree.Packages = append(tree.Packages, *f)
	}
	// The largest first: one that came last would keep a single goroutine busy
	// while the others have nothing left to do.
	slices.SortFunc(tree.Packages, func(a, b Folder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.rel, b.rel))
	})
	return tree, err
}
