package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
)

// Pulled is the result of Pull.
type Pulled struct {
	Written   []string `json:"written"`
	Removed   []string `json:"removed,omitempty"`
	Stale     []string `json:"stale,omitempty"`     // files of definitions that the service does not have
	Variables []string `json:"variables,omitempty"` // placeholders in the written files
}

// Pull writes the live definitions to files below dir. It does not rewrite a file that equals the live definition,
// so the file keeps its own variable names. With prune it removes the files of definitions that the service does not
// have.
func Pull(dir string, files, live definitions.Set, prune bool) (r Pulled, err error) {
	plan := &Plan{variables: func(string) (string, bool) { return "", false }}
	if err := plan.compare(files, live); err != nil {
		return r, err
	}
	for i := range files {
		path := filepath.Join(dir, filepath.FromSlash(files[i].File()))
		if _, missing := os.Stat(path); missing != nil {
			err = errors.Join(err, fmt.Errorf("%s is not in the file named after it: rename the file to %s", &files[i], path))
		}
	}
	if err != nil {
		return r, err
	}
	r.Written = []string{}
	var write definitions.Set
	for i := range live {
		d := &live[i]
		same := files.Find(d.Kind, d.Name) != nil
		for j := range plan.Steps {
			same = same && (plan.Steps[j].definition.Kind != d.Kind || plan.Steps[j].Name != d.Name)
		}
		if same {
			continue
		}
		write = append(write, *d)
		r.Written = append(r.Written, d.File())
		for _, s := range d.Secrets {
			r.Variables = append(r.Variables, s.Variable)
		}
	}
	if err := write.Write(dir); err != nil {
		return r, err
	}
	for i := range files {
		d := &files[i]
		if live.Find(d.Kind, d.Name) != nil {
			continue
		}
		if !prune {
			r.Stale = append(r.Stale, d.File())
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(d.File()))
		if removed := os.Remove(path); removed != nil {
			err = errors.Join(err, removed)
			continue
		}
		r.Removed = append(r.Removed, d.File())
	}
	slices.Sort(r.Variables)
	return r, err
}
