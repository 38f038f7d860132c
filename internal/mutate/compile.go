package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// compiler sees whether changed files compile. It builds what their packages
// import once, so that each file after the first takes milliseconds.
type compiler struct {
	set      *token.FileSet
	importer types.Importer
	folders  map[string]*folder
}

// folder is a package of this module.
type folder struct {
	path  string
	files []string
}

func (c *compiler) compile(file string, source []byte) error {
	if c.importer == nil {
		if err := c.load(); err != nil {
			return err
		}
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	f := c.folders[filepath.Dir(absolute)]
	if f == nil {
		return fmt.Errorf("%s is in no package", file)
	}
	var files []*ast.File
	for _, name := range f.files {
		name = filepath.Join(filepath.Dir(absolute), name)
		content := any(nil)
		if name == absolute {
			content = source
		}
		parsed, err := parser.ParseFile(c.set, name, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, parsed)
	}
	config := types.Config{Importer: c.importer}
	_, err = config.Check(f.path, c.set, files, nil)
	return err
}

// load asks the go command for the packages of this module and all that they
// import.
func (c *compiler) load() error {
	exports := map[string]string{} // by import path: files of the build cache
	c.folders = map[string]*folder{}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Module", "./...")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	for decoder := json.NewDecoder(out); decoder.More(); {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
			Module                  *struct{ Main bool }
		}
		if err := decoder.Decode(&p); err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			c.folders[p.Dir] = &folder{path: p.ImportPath, files: p.GoFiles}
		}
	}
	c.set = token.NewFileSet()
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return list.Wait()
}
