// Command reached prints, for CI, the packages that the changes since the base can affect: the packages of the
// changed files, and all packages whose code or tests import them.
//
//	go run ./internal/reached
//
// The base is the commit at which HEAD branched off from the branch, tag or commit in AZSEARCH_BASE, else from main
// of the remote origin or upstream. It prints all packages if there is no base, if nothing changed since the base,
// if AZSEARCH_BASE is "all", or if a changed file belongs to no package, such as go.mod, .ci/run, or a file of a
// deleted package.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	packages, why, err := reached(".", os.Getenv("AZSEARCH_BASE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, why)
	for _, p := range packages {
		fmt.Println(p)
	}
}

// reached returns the folders of the affected packages, such as ./search, and a line with the reason.
func reached(dir, base string) (packages []string, why string, err error) {
	all, err := list(dir)
	if err != nil {
		return nil, "", err
	}
	files, why, err := changed(dir, base)
	if err != nil {
		return nil, "", err
	}
	direct := map[string]bool{} // by folder
	for _, file := range files {
		folder, doubt := folderOf(file, all)
		if doubt {
			files, why = nil, "all packages: "+file+" has changed"
			break
		}
		if folder != "" {
			direct[folder] = true
		}
	}
	for folder, needs := range all {
		if files == nil || direct[folder] || slices.ContainsFunc(needs, func(need string) bool { return direct[need] }) {
			packages = append(packages, folder)
		}
	}
	slices.Sort(packages)
	return packages, fmt.Sprintf("%s: %d of %d packages are reached", why, len(packages), len(all)), nil
}

// folderOf returns the folder of the package of a file, "" if the file cannot affect a program of the module. doubt
// is true if the file may affect any package.
func folderOf(file string, all map[string][]string) (folder string, doubt bool) {
	for _, apart := range []string{"bench/", "samples/httpservice/", ".github/"} { // separate modules, and folders with CI steps that always run
		if strings.HasPrefix(file, apart) {
			return "", false
		}
	}
	if strings.HasSuffix(file, ".md") && !strings.HasSuffix(file, "MUTANTS.md") { // tests that read these files always run
		return "", false
	}
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		if _, is := all["./"+at]; is {
			return "./" + at, false
		}
		if strings.HasSuffix(file, ".go") && path.Base(path.Dir(file)) != "testdata" {
			break // of a deleted package
		}
	}
	return "", true
}

// changed returns the files that differ from the base, committed or not; nil if all packages must be printed.
func changed(dir, base string) (files []string, why string, err error) {
	if base == "all" {
		return nil, "all packages: AZSEARCH_BASE says so", nil
	}
	if base == "" {
		for _, ref := range []string{"refs/remotes/origin/main", "refs/remotes/upstream/main"} {
			if _, err := git(dir, "rev-parse", "--verify", "--quiet", ref); err == nil {
				base = ref
				break
			}
		}
		if base == "" {
			return nil, "all packages: there is no base, AZSEARCH_BASE names one", nil
		}
	}
	fork, err := git(dir, "merge-base", base, "HEAD")
	if err != nil {
		return nil, "", fmt.Errorf("reached: finding where HEAD has left %s failed: %w; in a shallow clone it has to be fetched", base, err)
	}
	fork = strings.TrimSpace(fork)
	differ, err := git(dir, "diff", "--name-only", "--no-renames", "-z", fork)
	if err != nil {
		return nil, "", err
	}
	fresh, err := git(dir, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, "", err
	}
	files = strings.FieldsFunc(differ+fresh, func(r rune) bool { return r == 0 })
	if len(files) == 0 {
		return nil, "all packages: nothing has changed since " + base, nil
	}
	return files, fmt.Sprintf("%d files have changed since %.10s", len(files), fork), nil
}

// list returns the packages of the module by folder, each with the folders of the packages of the module that its
// code and tests depend on.
func list(dir string) (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-test", "-json=ImportPath,Deps,Module", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("reached: listing the packages failed: %w\n%s", err, &stderr)
	}
	all := map[string][]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Deps       []string
			Module     *struct{ Path string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reached: reading the list of packages failed: %w", err)
		}
		if p.Module == nil {
			continue
		}
		folder := func(importPath string) (string, bool) {
			importPath, _, _ = strings.Cut(importPath, " ") // without the suffix [p.test] of a test variant
			within, ok := strings.CutPrefix(importPath, p.Module.Path+"/")
			return "./" + within, ok
		}
		// The test program p.test depends on everything that the package and its tests need.
		of, ok := folder(strings.TrimSuffix(p.ImportPath, ".test"))
		if !ok || strings.HasSuffix(p.ImportPath, "]") {
			continue
		}
		for _, dep := range p.Deps {
			if need, ok := folder(dep); ok {
				all[of] = append(all[of], need)
			}
		}
		if all[of] == nil {
			all[of] = []string{}
		}
	}
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w %s", strings.Join(args, " "), err, problem.String())
	}
	return string(out), nil
}
