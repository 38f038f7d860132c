package load

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/disturb"
)

// The programs of the senders of other languages.
var (
	//go:embed peers/sender.mjs
	javaScript []byte
	//go:embed peers/sender.py
	python []byte
)

// findPeers returns the loaders installed in a folder, none if it is "", and names those that are missing. It writes
// scripts to temp.
func findPeers(folder, temp string, s cli.Streams) (found []contestant, err error) {
	if folder == "" {
		return nil, nil
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	module, script := filepath.Join(temp, "sender.mjs"), filepath.Join(temp, "sender.py")
	if err := errors.Join(os.WriteFile(module, javaScript, 0o600), os.WriteFile(script, python, 0o600)); err != nil {
		return nil, err
	}
	dump := filepath.Join(folder, "node_modules/elasticdump/bin/elasticdump")
	interpreter := filepath.Join(folder, "bin/python")
	esbulk := filepath.Join(folder, "bin/esbulk")
	command := func(arguments func(endpoint, file string) []string) func(ctx context.Context, endpoint, file string) *exec.Cmd {
		return func(ctx context.Context, endpoint, file string) *exec.Cmd {
			args := arguments(endpoint, file)
			return exec.CommandContext(ctx, args[0], args[1:]...)
		}
	}
	for _, c := range []contestant{
		{name: "elasticdump", needs: dump, slow: true, beat: 5, command: command(func(endpoint, file string) []string {
			return []string{
				"node", dump, "--input=" + file, "--output=" + endpoint + "/" + corpus.IndexName, "--type=data", "--limit=1000", "--quiet",
				"--transform=doc._source=Object.assign({},doc);doc._id=doc.id",
			}
		})},
		{name: "JavaScript", needs: filepath.Join(folder, "node_modules/@azure/search-documents"), slow: true, beat: 5, command: command(func(endpoint, file string) []string {
			return []string{"node", module, folder, endpoint, file}
		})},
		{name: "Python", needs: interpreter, slow: true, beat: 5, command: command(func(endpoint, file string) []string {
			return []string{interpreter, script, endpoint, file}
		})},
		{name: "esbulk", needs: esbulk, beat: 1, command: command(func(endpoint, file string) []string {
			return []string{esbulk, "-server", endpoint, "-index", corpus.IndexName, "-id", "id", "-w", "4", file}
		})},
	} {
		if _, err := os.Stat(c.needs); err != nil {
			fmt.Fprintf(s.Err, "left out: %s: %v; see go doc ./load for how to install it\n", c.name, err)
			continue
		}
		found = append(found, c)
	}
	if found == nil {
		err = fmt.Errorf("-peers: nothing is installed in %s", folder)
	}
	return found, err
}

// troubled is the number of documents of a run with a fault. More would take minutes: the sender for Python compares
// each result with every document of its batch.
const troubled = 5000

// trouble prints the documents that each contestant loses with each fault, its exit code and its seconds. Exit code 0
// with a loss is marked false. A contestant that is not done after limit is killed.
func trouble(ctx context.Context, others []contestant, program, folder string, limit time.Duration, s cli.Streams) error {
	file := filepath.Join(folder, fmt.Sprintf("hotels-%d.jsonl", troubled))
	if err := write("jsonl", file, troubled); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "\nof %d documents lost, and the exit code, within %v:\n", troubled, limit)
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\t")
	for _, d := range disturb.All {
		fmt.Fprintf(table, "%s\t", d.Name)
	}
	fmt.Fprintln(table)
	var errs []error
	for _, c := range append([]contestant{{name: "jsonl"}}, others...) {
		fmt.Fprintf(table, "%s\t", c.name)
		for _, d := range disturb.All {
			o, err := runOne(ctx, c, program, file, troubled, limit, nil, d.Sink...)
			if errors.Is(err, errNotDone) {
				fmt.Fprintf(table, "%d, did not end\t", troubled-o.distinct)
				continue
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", c.name, d.Name, err))
				fmt.Fprint(table, "-\t")
				continue
			}
			lost := troubled - o.distinct
			fmt.Fprintf(table, "%d, exit %d%s, %.0f s\t", lost, o.code, map[bool]string{true: " (false)"}[lost > 0 && o.code == 0], o.got.Seconds)
			if c.command == nil && (lost > 0) != (o.code != 0) {
				errs = append(errs, fmt.Errorf("azsearch, %s: %d documents lost, exit code %d: %s", d.Name, lost, o.code, o.says))
			}
		}
		fmt.Fprintln(table)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, "For Azure AI Search, 429 for a document is its quota and final; too busy, which is 429 in the other protocol, is 503.")
	return errors.Join(errs...)
}
