package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

// licensesName is the file in every archive that has the licenses of everything in the program that is not ours.
const licensesName = "THIRD_PARTY_LICENSES.txt"

// licensed are directories of this module with code of others.
var licensed = []string{"search/searchtest/internal/textindex/languages"}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)`)

// writeLicenses writes the licenses of the modules in a program, of the standard library, and of code in this module.
func writeLicenses(path string, info *debug.BuildInfo) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	var text bytes.Buffer
	err = addLicenses(&text, "the Go standard library, "+info.GoVersion, string(bytes.TrimSpace(root)))
	for _, dir := range licensed {
		err = errors.Join(err, addLicenses(&text, dir, dir))
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	list := exec.Command("go", args...)
	list.Stderr = os.Stderr
	out, failed := list.Output()
	if failed != nil {
		return fmt.Errorf("go mod download: %w", failed)
	}
	for modules := json.NewDecoder(bytes.NewReader(out)); modules.More(); {
		var m struct{ Path, Version, Dir string }
		if err := modules.Decode(&m); err != nil {
			return fmt.Errorf("go mod download: %w", err)
		}
		err = errors.Join(err, addLicenses(&text, m.Path+" "+m.Version, m.Dir))
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// addLicenses adds the license files in a directory to text.
func addLicenses(text *bytes.Buffer, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, f := range files {
		if f.IsDir() || !licenseFile.MatchString(f.Name()) || filepath.Ext(f.Name()) == ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "==== %s: %s ====\n\n%s\n\n", name, f.Name(), bytes.TrimSpace(content))
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no license file; ask its authors, or remove it", name)
	}
	return nil
}
