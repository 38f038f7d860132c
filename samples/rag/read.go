package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// readPackage returns the documentation of a package and its exported names, as passages without vectors.
func readPackage(tree declarations.Tree, importPath string) (passages []Passage, err error) {
	at := slices.IndexFunc(tree.Packages, func(f declarations.Folder) bool { return f.ImportPath == importPath })
	if at < 0 {
		return nil, fmt.Errorf("there is no package %s", importPath)
	}
	found := tree.Packages[at].Parse()
	if len(found.Broken) > 0 {
		return nil, found.Broken[0]
	}
	seen := map[string]bool{} // if several files declare a name, for example one per operating system, the first counts
	for _, d := range append(found.Packages, found.Declarations...) {
		if d.Doc == "" || d.Test || !d.Exported || seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		p := Passage{Source: d.File, Package: importPath, Kind: d.Kind, Symbol: d.Name}
		for _, part := range split(append([]string{d.Signature}, strings.Split(d.Doc, "\n\n")...)) {
			p.Text = p.Kind + " " + p.title() + "\n" + part
			passages = append(passages, p)
		}
	}
	if len(passages) == 0 {
		return nil, fmt.Errorf("the package %s has no documentation", importPath)
	}
	setIDs(passages)
	return passages, nil
}

const (
	// maxPassage is the maximum length of a passage in bytes. Models accept more, but the vector of a long passage is
	// close to none of its subjects.
	maxPassage = 1000
	// maxOverlap is the maximum length, in bytes, of a paragraph that is repeated at the beginning of the next
	// passage.
	maxOverlap = 250
)

// split joins paragraphs into passages of at most maxPassage bytes. A heading starts a new passage and is repeated in
// every passage below it. Where a text is cut for its length, the next passage repeats the last paragraph if that is
// short, because it often explains what a pronoun refers to.
func split(paragraphs []string) (parts []string) {
	var heading string
	var part []string // of the current passage
	size, fresh := 0, false
	put := func(text string) {
		part = append(part, text)
		size += len(text) + 2
	}
	begin := func() {
		part, size, fresh = nil, 0, false
		if heading != "" {
			put(heading)
		}
	}
	end := func() {
		if fresh {
			parts = append(parts, strings.Join(part, "\n\n"))
		}
		begin()
	}
	for _, text := range paragraphs {
		if strings.HasPrefix(text, "# ") {
			end()
			heading = text
			begin()
			continue
		}
		for _, piece := range pieces(text, maxPassage-min(len(heading)+2, maxOverlap)) {
			if fresh && size+len(piece) > maxPassage {
				last := part[len(part)-1]
				end()
				if len(last) <= maxOverlap && size+len(last)+2+len(piece) <= maxPassage {
					put(last)
				}
			}
			put(piece)
			fresh = true
		}
	}
	end()
	return parts
}

// pieces splits a text into pieces no longer than most bytes, preferably at the end of a line, else of a sentence, else
// of a word.
func pieces(text string, most int) (cut []string) {
	for len(text) > most {
		at := most
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		for _, end := range []string{"\n", ". ", " "} {
			if i := strings.LastIndex(text[:at], end); i > 0 {
				at = i + len(end)
				break
			}
		}
		if piece := strings.Trim(text[:at], "\n"); strings.TrimSpace(piece) != "" {
			cut = append(cut, piece)
		}
		text = text[at:]
	}
	if strings.TrimSpace(text) != "" {
		cut = append(cut, strings.Trim(text, "\n"))
	}
	return cut
}
