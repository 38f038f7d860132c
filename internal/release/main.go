// Command release builds the files of a release: for each system an archive with the program azsearch and a bill of
// materials, and checksums. An archive has the licenses of all code in the program.
//
//	go run ./internal/release -out DIR                       all systems
//	go run ./internal/release -out DIR linux/amd64           some systems
//	go run ./internal/release -out DIR -try                  this system, as in CI, and run the result
//	go run ./internal/release -consumer                      what a program that imports the module downloads
//
// The version is the one that the go command records: the tag of the commit, if nothing was changed since. Two runs
// with the same commit and Go version produce the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// texts are the files in every archive in addition to the program.
var texts = []string{"LICENSE", "README.md", "CHANGELOG.md"}

func main() {
	out := flag.String("out", "", "write to `DIR`, created if it does not exist")
	try := flag.Bool("try", false, "build for this system with the default settings, which reuses cached builds, and run the program in the archive")
	consumer := flag.Bool("consumer", false, "install azsearch from a module proxy with the last commit, and build a program that imports the module")
	flag.Parse()
	do := func() error { return run(*out, *try, flag.Args()) }
	if *consumer {
		do = consume
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out string, try bool, wanted []string) error {
	if out == "" {
		return errors.New("out is empty; use -out DIR")
	}
	switch own := runtime.GOOS + "/" + runtime.GOARCH; {
	case try && len(wanted) > 0:
		return fmt.Errorf("-try is for this system: leave %s out", strings.Join(wanted, " "))
	case try:
		wanted = []string{own}
	case len(wanted) == 0:
		wanted = systems
	}
	for _, system := range wanted {
		if !try && !slices.Contains(systems, system) {
			return fmt.Errorf("got system %q, want one of %s", system, strings.Join(systems, " "))
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	at, err := committed()
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, system := range wanted {
		files, err := release(out, system, try, at)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
			fmt.Printf("%s: %d bytes\n", name, len(content))
		}
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// committed returns the time of the commit, used for all files in the archives.
func committed() (time.Time, error) {
	text, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the commit: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// release writes the archive and the bill of materials for a system, and returns their names.
func release(out, system string, try bool, at time.Time) (names []string, err error) {
	goos, goarch, _ := strings.Cut(system, "/")
	dir, err := os.MkdirTemp("", "azsearch-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "azsearch")
	if goos == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/azsearch")
	build.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	if try {
		build = exec.Command("go", "build", "-o", program, "./cmd/azsearch")
	}
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	base := strings.Join([]string{"azsearch", strings.TrimPrefix(strings.Trim(cmp.Or(info.Main.Version, "devel"), "()"), "v"), goos, goarch}, "_")
	list, err := billOf(info, goos, goarch, at)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(out, base+".cdx.json"), list, 0o644); err != nil {
		return nil, err
	}
	members := []member{{name: filepath.Base(program), path: program, mode: 0o755}}
	for _, name := range texts {
		members = append(members, member{name: name, path: name, mode: 0o644})
	}
	licenses := filepath.Join(dir, licensesName)
	if err := writeLicenses(licenses, info); err != nil {
		return nil, err
	}
	members = append(members, member{name: licensesName, path: licenses, mode: 0o644})
	archive, write := base+".tar.gz", writeTar
	if goos == "windows" {
		archive, write = base+".zip", writeZip
	}
	var content bytes.Buffer
	if err := write(&content, base, members, at); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(out, archive), content.Bytes(), 0o644); err != nil {
		return nil, err
	}
	if try {
		err = runFrom(filepath.Join(out, archive), base, dir)
	}
	return []string{archive, base + ".cdx.json"}, err
}

// member is a file in an archive.
type member struct {
	name, path string
	mode       int64
}

func writeTar(w io.Writer, base string, members []member, at time.Time) error {
	zipped := gzip.NewWriter(w)
	t := tar.NewWriter(zipped)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: base + "/" + m.name, Mode: m.mode, Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), zipped.Close())
}

func writeZip(w io.Writer, base string, members []member, at time.Time) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: base + "/" + m.name, Method: zip.Deflate, Modified: at})
		if err != nil {
			return err
		}
		if _, err := f.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
}

// runFrom unpacks a tar archive with the system's tar, and runs the program in it with the argument version.
func runFrom(archive, base, dir string) error {
	if text, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("unpack: %w: %s", err, text)
	}
	text, err := exec.Command(filepath.Join(dir, base, "azsearch"), "version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("azsearch version: %w: %s", err, text)
	}
	fmt.Printf("%s", text)
	return nil
}
