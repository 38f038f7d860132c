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

// Tree is the list of packages below a root, not yet parsed.
type Tree struct {
	// Packages are the folders with Go files, the largest first.
	Packages []Folder
	// Bytes is the total size.
	Bytes int64
}

// Folder is a folder with Go files: usually one package and its tests.
type Folder struct {
	// ImportPath is the folder relative to the root: in the standard library the path of the package.
	ImportPath string
	// Files are the names of the files, sorted.
	Files []string
	// Bytes is the total size.
	Bytes int64

	dir string // its path
	rel string // relative to the root, with slashes; "" for the root itself
}

// StandardLibrary returns the source folder of the Go release that built this program, or "" if it is unknown, as
// after a build with -trimpath.
func StandardLibrary() string {
	root := runtime.GOROOT() //nolint:staticcheck // deprecated because a binary may be moved to another machine; go run makes none that is
	if root == "" {
		return ""
	}
	return root + "/src"
}

// Find lists the Go files below root, tests included, by folder. Like the go command it skips folders named testdata
// or starting with a dot or an underscore.
func Find(root string) (Tree, error) {
	if root == "" {
		return Tree{}, errors.New("this program does not know its GOROOT: name a folder with -root")
	}
	// WalkDir does not follow a root that is a symbolic link, as GOROOT is on some systems.
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
	// The largest first: as the last one it would keep one goroutine busy while the others are idle.
	slices.SortFunc(tree.Packages, func(a, b Folder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.rel, b.rel))
	})
	return tree, err
}
