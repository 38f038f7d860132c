// Package declarations turns Go source into documents, one for each top-level name of a package. The quickstart
// uploads them, and the search sample queries them.
package declarations

import (
	"fmt"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// Declaration is one document: a top-level name of a package. The tags define the fields of the index.
type Declaration struct {
	Key       string `json:"key" search:"key"`
	Package   string `json:"package" search:"searchable,filterable,sortable,facetable"` // import path
	Kind      string `json:"kind" search:"filterable,facetable"`                        // func, method, type, const or var
	Name      string `json:"name" search:"searchable,filterable,sortable"`              // of a method with its type: Client.Do
	Signature string `json:"signature" search:"searchable"`                             // the declaration without its body
	Doc       string `json:"doc" search:"analyzer=en.lucene"`
	File      string `json:"file" search:"filterable"` // relative to the root
	Line      int32  `json:"line"`
	Lines     int32  `json:"lines" search:"filterable,sortable,facetable"` // of code, body included
	Exported  bool   `json:"exported" search:"filterable,facetable"`
	Test      bool   `json:"test" search:"filterable,facetable"` // declared in a _test.go file
}

// Suggester is the name of the suggester that completes names of declarations.
const Suggester = "names"

// Index describes an index for Declarations.
func Index(name string) (models.SearchIndex, error) {
	fields, err := models.FieldsOf[Declaration]()
	if err != nil {
		return models.SearchIndex{}, err
	}
	return models.SearchIndex{
		Name:   name,
		Fields: fields,
		// The quickstart does not need it, but it cannot be added later: a suggester cannot include existing fields.
		Suggesters: []models.Suggester{{Name: Suggester, SourceFields: []string{"name"}}},
	}, nil
}

// setKeys gives each declaration of a package a key that is the same in every run. It encodes one of these texts,
// because a key may contain neither slash nor #:
//
//	net/http#Client.Do
//	syscall/zerrors_linux_arm.go#EPERM    if several files declare the name,
//	                                      usually one per operating system
//	crypto/crypto.go#init~2               the second one in the same file
//
// No two texts are equal: a name contains no #, and no file has the name of a folder next to it.
func setKeys(importPath string, decls []Declaration, fileNames []string) {
	type place struct{ name, file string }
	inPackage := make(map[string]int, len(decls))
	inFile := make(map[place]int)
	for i := range decls {
		inPackage[decls[i].Name]++
	}
	for i := range decls {
		d := &decls[i]
		text := importPath + "#" + d.Name
		if inPackage[d.Name] > 1 {
			at := place{d.Name, fileNames[i]}
			inFile[at]++
			text = importPath + "/" + fileNames[i] + "#" + d.Name
			if n := inFile[at]; n > 1 {
				text += fmt.Sprintf("~%d", n)
			}
		}
		d.Key = keys.Encode(text)
		if keys.Validate(d.Key) != nil { // too long to be decoded
			d.Key = keys.Hash(text)
		}
	}
}
