package compare

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

//go:embed sender.cjs
var senderScript []byte

// javaScriptRunner runs tasks with the official JavaScript library.
type javaScriptRunner struct {
	node    string
	folder  string // has the folder node_modules
	script  string
	version string
}

var (
	errNoNode    = errors.New("there is no Node here")
	errNoPackage = errors.New("there is no npm package @azure/search-documents here: install it in a folder and name that with -js")
)

// findJavaScript finds Node, and the package in folder. It writes the script to temp.
func findJavaScript(ctx context.Context, folder, temp string) (*javaScriptRunner, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errNoNode
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	j := &javaScriptRunner{node: node, folder: folder, script: filepath.Join(temp, "sender.cjs")}
	if err := os.WriteFile(j.script, senderScript, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, node, j.script, folder).Output()
	if err != nil {
		return nil, errNoPackage
	}
	j.version = strings.TrimSpace(string(out))
	return j, nil
}

// javaScriptTask is a task with its documents, which the script cannot generate.
type javaScriptTask struct {
	task
	// Contents is a file with the content of one document per line; a document is one of them plus a key.
	Contents  string `json:"contents"`
	KeyPrefix string `json:"keyPrefix"`
	KeyDigits int    `json:"keyDigits"`
	// BatchActions is the number of documents in BatchBytes, because the library only counts documents.
	BatchActions int `json:"batchActions"`
}

// command returns the command that runs a task.
func (j *javaScriptRunner) command(ctx context.Context, t task) (*exec.Cmd, error) {
	s, err := shapeNamed(t.Shape)
	if err != nil {
		return nil, err
	}
	contents, err := s.contents()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(j.script), "contents")
	if err != nil {
		return nil, err
	}
	all := bytes.Join(contents, []byte("\n"))
	if _, err := file.Write(all); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(javaScriptTask{
		task: t, Contents: file.Name(), KeyPrefix: corpus.KeyPrefix, KeyDigits: corpus.KeyDigits,
		BatchActions: max(1, t.BatchBytes/(len(all)/len(contents)+len(actionStart))),
	})
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, j.node, j.script, j.folder, string(text)), nil
}
