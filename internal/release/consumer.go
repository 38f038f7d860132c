package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

const module = "github.com/go-azsearch/azsearch"

// mostBytes is the maximum size of the stripped program below on linux/amd64: 10 % more than the 9.7 MB it had before
// there were indexers, skills and knowledge. If it grows, go tool nm -size shows what was added, and -dumpdep in
// -ldflags why it is linked: most often a package-level variable that is initialized at run time.
const mostBytes = 10_670_000

// consumerProgram uses the sender and the client, and nothing else of the module.
const consumerProgram = `package main

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search"
)

type hotel struct {
	ID string ` + "`json:\"id\" search:\"key\"`" + `
}

func main() {
	client, err := search.NewClientWithKey("https://example.search.windows.net", "hotels", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New[hotel](client, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := sender.UploadDocuments(context.Background(), hotel{ID: "1"}); err != nil {
		log.Fatal(err)
	}
	log.Print(sender.Close(context.Background()))
}
`

// stranger is a working directory with an empty module cache, and the environment for go commands in it.
type stranger struct {
	dir string // includes the module cache
	env []string
}

// consume installs azsearch from a module proxy with the last commit, then builds a program that imports the sender
// and the client, and prints what that costs. It returns an error if that program downloads modules that only
// azsearch needs, such as Parquet.
func consume() (err error) {
	dir, err := os.MkdirTemp("", "azsearch-consumer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	version, err := proxy(dir)
	if err != nil {
		return err
	}
	get, install, err := installation()
	if err != nil {
		return err
	}
	installer, err := newStranger(dir, "installer")
	if err != nil {
		return err
	}
	if err := installer.run(ofVersion(install, version)...); err != nil {
		return err
	}
	if err := installer.run(filepath.Join(installer.dir, "azsearch"), "version"); err != nil {
		return err
	}
	tool, err := buildinfo.ReadFile(filepath.Join(installer.dir, "azsearch"))
	if err != nil {
		return err
	}

	importer, err := newStranger(dir, "importer")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(importer.dir, "main.go"), []byte(consumerProgram), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"go", "mod", "init", "example.com/consumer"},
		ofVersion(get, version),
		{"go", "build", "-ldflags=-s -w", "-o", "consumer", "."},
	} {
		if err := importer.run(args...); err != nil {
			return err
		}
	}
	return importer.report(tool)
}

// installation returns the commands in README.md that add the module to a program, and that install azsearch.
func installation() (get, install []string, err error) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		command, _, _ := strings.Cut(line, "#")
		switch words := strings.Fields(command); {
		case strings.HasPrefix(line, "    go get "):
			get = words
		case strings.HasPrefix(line, "    go install "):
			install = words
		}
	}
	if get == nil || install == nil {
		return nil, nil, errors.New("README.md has no line with go get, or none with go install")
	}
	return get, install, nil
}

// ofVersion returns a command with the version of the module replaced.
func ofVersion(command []string, version string) []string {
	command = slices.Clone(command)
	for i := range command {
		if path, _, _ := strings.Cut(command[i], "@"); strings.HasPrefix(path, module) {
			command[i] = path + "@" + version
		}
	}
	return command
}

// proxy creates a file tree in the form of a module proxy with the last commit. It returns the version of the
// module.
func proxy(dir string) (version string, err error) {
	at, err := committed()
	if err != nil {
		return "", err
	}
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "", err
	}
	version = fmt.Sprintf("v0.0.0-%s-%s", at.Format("20060102150405"), strings.TrimSpace(string(hash)))
	base := filepath.Join(dir, "proxy", filepath.FromSlash(module), "@v", version)
	if err := os.MkdirAll(filepath.Dir(base), 0o750); err != nil {
		return "", err
	}
	list, err := exec.Command("git", "ls-files", "*/go.mod").Output()
	if err != nil {
		return "", err
	}
	archive := exec.Command("git", "archive", "--format=zip", "--prefix="+module+"@"+version+"/", "--output="+base+".zip", "HEAD", "--", ".")
	for nested := range strings.Lines(string(list)) { // nested modules do not belong to this module
		archive.Args = append(archive.Args, ":!"+filepath.Dir(strings.TrimSpace(nested)))
	}
	if text, err := archive.CombinedOutput(); err != nil {
		return "", fmt.Errorf("git archive: %w: %s", err, text)
	}
	mod, err := exec.Command("git", "show", "HEAD:go.mod").Output()
	if err != nil {
		return "", err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, at.Format("2006-01-02T15:04:05Z"))
	return version, errors.Join(os.WriteFile(base+".mod", mod, 0o600), os.WriteFile(base+".info", []byte(info), 0o600),
		os.WriteFile(filepath.Join(filepath.Dir(base), "list"), []byte(version+"\n"), 0o600))
}

// newStranger returns a stranger. Modules in the existing module cache are used before the network.
func newStranger(dir, name string) (*stranger, error) {
	text, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, err
	}
	known := strings.Fields(string(text))
	s := &stranger{dir: filepath.Join(dir, name)}
	s.env = append(os.Environ(), "GOMODCACHE="+filepath.Join(s.dir, "modules"), "GOBIN="+s.dir, "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", // same results in every directory
		"GONOSUMDB=*", // go mod verify checks go.sum
		"GOPROXY=file://"+filepath.Join(dir, "proxy")+",file://"+filepath.Join(known[0], "cache", "download")+","+known[1])
	return s, os.Mkdir(s.dir, 0o750)
}

func (s *stranger) run(args ...string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = s.dir, s.env
	text, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, text)
	}
	if args[0] != "go" {
		fmt.Printf("%s\n", bytes.TrimSpace(text))
	}
	return nil
}

// report prints what the module costs an importing program, and compares its downloads with azsearch's modules.
func (s *stranger) report(tool *debug.BuildInfo) error {
	program := filepath.Join(s.dir, "consumer")
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	binary, err := os.Stat(program)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(s.dir, "go.sum"))
	if err != nil {
		return err
	}
	downloads := filepath.Join(s.dir, "modules", "cache", "download")
	var zips []string
	var size int64
	err = filepath.WalkDir(downloads, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".zip" {
			return err
		}
		zip, err := d.Info()
		if err != nil {
			return err
		}
		size += zip.Size()
		name, err := filepath.Rel(downloads, filepath.Dir(filepath.Dir(path)))
		zips = append(zips, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("a program with bufferedsender and search: %d modules, %d lines of go.sum, %.1f MB downloaded, %.1f MB as a stripped binary\n",
		len(info.Deps), strings.Count(string(sums), "\n"), float64(size)/1e6, float64(binary.Size())/1e6)
	if binary.Size() > mostBytes && runtime.GOOS+"/"+runtime.GOARCH == "linux/amd64" {
		err = fmt.Errorf("a program with bufferedsender and search has %d bytes, want at most %d", binary.Size(), mostBytes)
	}
	for _, m := range tool.Deps {
		if !slices.ContainsFunc(info.Deps, func(d *debug.Module) bool { return d.Path == m.Path }) && slices.Contains(zips, m.Path) {
			err = errors.Join(err, fmt.Errorf("a program with bufferedsender and search downloads %s, which only azsearch needs", m.Path))
		}
	}
	return err
}
