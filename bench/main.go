// Command bench measures the SDK, compares it with others, and injects faults. Without arguments it lists its
// commands. README.md has their tables.
//
//	go run . compare -rounds 3
//	go run . faults -only hung,giants -json
//	go run . queue -h
//
// To add a command write a package with a cli.Command and add a line to the table below.
package main

import (
	"github.com/go-azsearch/azsearch/bench/allocations"
	"github.com/go-azsearch/azsearch/bench/backup"
	"github.com/go-azsearch/azsearch/bench/compare"
	"github.com/go-azsearch/azsearch/bench/faults"
	"github.com/go-azsearch/azsearch/bench/fleet"
	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/load"
	"github.com/go-azsearch/azsearch/bench/outbox"
	"github.com/go-azsearch/azsearch/bench/queue"
	"github.com/go-azsearch/azsearch/bench/repair"
	"github.com/go-azsearch/azsearch/bench/scale"
	"github.com/go-azsearch/azsearch/bench/simulate"
	"github.com/go-azsearch/azsearch/bench/sink"
)

func main() {
	cli.Main(
		compare.Command,
		faults.Command,
		scale.Command,
		allocations.Command,
		simulate.Command,
		queue.Command,
		outbox.Command,
		fleet.Command,
		repair.Command,
		load.Command,
		backup.Command,
		sink.Command,
	)
}
