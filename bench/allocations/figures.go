package allocations

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// pkg is the configuration key with the package of a benchmark.
const pkg = "pkg"

// read parses results and keeps only allocations and package. name is for errors.
func read(r io.Reader, name string) ([]*benchfmt.Result, error) {
	var all []*benchfmt.Result
	reader := benchfmt.NewReader(r, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			kept := &benchfmt.Result{
				Config: []benchfmt.Config{{Key: pkg, Value: []byte(record.GetConfig(pkg)), File: true}},
				Name:   bytes.Clone(record.Name),
				Iters:  record.Iters,
			}
			for _, v := range record.Values {
				if strings.HasPrefix(v.Unit, "allocs/") {
					kept.Values = append(kept.Values, v)
				}
			}
			if len(kept.Values) == 0 {
				return nil, fmt.Errorf("%s: Benchmark%s counts no allocations", name, kept.Name)
			}
			all = append(all, kept)
		}
	}
	return all, reader.Err()
}

func readFile(name string) ([]*benchfmt.Result, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, name)
}

const head = "# Allocations of the benchmarks at this commit. Written by: go run . allocations -update\n\n"

func writeFile(name string, results []*benchfmt.Result) error {
	out := bytes.NewBufferString(head)
	w := benchfmt.NewWriter(out)
	for _, r := range results {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

// figure identifies one measured value.
type figure struct{ pkg, benchmark, unit string }

func (f figure) String() string {
	return fmt.Sprintf("%s Benchmark%s %s", f.pkg, f.benchmark, f.unit)
}

// medians returns the median of the runs for each figure.
func medians(results []*benchfmt.Result) map[figure]float64 {
	values := make(map[figure][]float64)
	for _, r := range results {
		for _, v := range r.Values {
			f := figure{r.GetConfig(pkg), string(r.Name), v.Unit}
			values[f] = append(values[f], v.Value)
		}
	}
	all := make(map[figure]float64, len(values))
	for f, v := range values {
		slices.Sort(v)
		all[f] = v[(len(v)-1)/2]
	}
	return all
}
