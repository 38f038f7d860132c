package redisqueue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// rank orders servers by durability, the weakest first.
func rank(s *rediskit.Server) int {
	switch {
	case s.Evicts():
		return 0
	case s.KeepsNothing():
		return 1
	case s.AOF == "0":
		return 2
	case s.AOF == "":
		return 3
	case s.FSync == "no" || s.FSync == "":
		return 4
	case s.FSync == "everysec":
		return 5
	}
	return 6
}

// weaker returns an error if the server is known to be weaker than the durability.
func (d Durability) weaker(s *rediskit.Server) error {
	errs := []error{s.Loses()}
	switch {
	case s.KeepsNothing() && d <= 0:
		errs = append(errs, errors.New("appendonly no, no snapshots: the server keeps nothing when its process ends"))
	case d == Process && s.AOF != "1":
		errs = append(errs, fmt.Errorf("got appendonly %s, want yes for Process", yes(s.AOF)))
	case d == Disk && (s.AOF != "1" || s.FSync != "always"):
		errs = append(errs, fmt.Errorf("got appendonly %s and appendfsync %s, want yes and always for Disk", yes(s.AOF), word(s.FSync)))
	}
	return errors.Join(errs...)
}

func word(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func yes(s string) string { return map[string]string{"1": "yes", "0": "no", "": "unknown"}[s] }

// survives describes which failures a queue on a server survives.
func (d Durability) survives(s *rediskit.Server) string {
	var b strings.Builder
	switch {
	case s.AOF == "1" && s.FSync == "always":
		b.WriteString("Each acknowledged record is on the server's disk (appendonly yes, appendfsync always).")
	case s.AOF == "1" && s.FSync == "everysec":
		b.WriteString("The queue survives a crash of the server process; a failure of its machine loses up to two seconds of acknowledged records (appendonly yes, appendfsync everysec).")
	case s.AOF == "1" && s.FSync == "no":
		b.WriteString("The queue survives a crash of the server process; a failure of its machine loses records that the system has not written yet (appendonly yes, appendfsync no).")
	case s.AOF == "1":
		b.WriteString("The queue survives a crash of the server process (appendonly yes); how much a failure of its machine loses is unknown, appendfsync cannot be read.")
	case s.KeepsNothing():
		b.WriteString("The server keeps nothing when its process ends (appendonly no, no snapshots).")
	case s.AOF == "0" && s.SaveRead:
		fmt.Fprintf(&b, "A crash of the server process loses all records after its last snapshot (appendonly no, save %q).", s.Save)
	case s.AOF == "0":
		b.WriteString("A crash of the server process loses all records after its last snapshot (appendonly no, save unknown).")
	default:
		b.WriteString("How much a crash of the server process loses is unknown: its settings cannot be read.")
	}
	if d > 0 {
		fmt.Fprintf(&b, " Append waits until %d of its replicas (%s connected) have the records, so a failover to one of these loses nothing.", d, word(s.Replicas))
	} else {
		fmt.Fprintf(&b, " A failover to a replica (%s connected) loses the records that the replica lacks.", word(s.Replicas))
	}
	switch {
	case s.Evicts():
		b.WriteString(" Redis may evict keys of the queue when its memory is full (maxmemory-policy " + s.Eviction + ").")
	case s.Eviction == "":
		b.WriteString(" Whether Redis may evict keys when its memory is full is unknown.")
	}
	return b.String()
}
