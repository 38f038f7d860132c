package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

const mostMemory = 200 << 20

// big loads large files one after another, and prints the memory of azsearch in each half of its run. Each file is
// removed before the next is written. The rows of the Parquet file are one row group.
func big(ctx context.Context, gigabytes float64, program, folder string, s cli.Streams) error {
	documents := int(gigabytes * 1e9 / 650)
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tfile GB\tdocuments/s\tmost memory, first half, MB\tsecond half\ttarget\t")
	for _, kind := range []string{"jsonl", "parquet"} {
		file := filepath.Join(folder, "big."+kind)
		if err := write(kind, file, documents); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		memory := &watch{}
		got, _, err := measureOne(ctx, contestant{name: kind}, program, file, documents, memory)
		if err := os.Remove(file); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		first, second := memory.halves()
		mark := map[bool]string{true: " missed"}[max(first, second) > mostMemory]
		fmt.Fprintf(table, "%s\t%.2f\t%.0f\t%s\t%s\t200%s\t\n", kind, float64(info.Size())/1e9, float64(got.Completed)/got.Seconds, measure.Megabytes(first), measure.Megabytes(second), mark)
	}
	return table.Flush()
}

// watch samples the memory of a process.
type watch struct {
	values  []int64
	stop    chan struct{}
	looking sync.WaitGroup
}

func (w *watch) begin(pid int) {
	w.stop = make(chan struct{})
	w.looking.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.values = append(w.values, measure.ProcessRSS(pid))
			case <-w.stop:
				return
			}
		}
	})
}

func (w *watch) end() {
	close(w.stop)
	w.looking.Wait()
}

// halves returns the maximum of each half of the samples.
func (w *watch) halves() (first, second int64) {
	for i, v := range w.values {
		if i < len(w.values)/2 {
			first = max(first, v)
		} else {
			second = max(second, v)
		}
	}
	return first, second
}
