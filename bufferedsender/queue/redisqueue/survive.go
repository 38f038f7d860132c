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
		errs = append(errs, fmt.Errorf("appendonly is %s, and Process needs yes", yes(s.AOF)))
	case d == Disk && (s.AOF != "1" || s.FSync != "always"):
		errs = append(errs, fmt.Errorf("appendonly is %s and appendfsync %s, and Disk needs yes and always", yes(s.AOF), word(s.FSync)))
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

// survives describes what a queue on a server survives.
func (d Durability) survives(s *rediskit.Server) string {
	var b strings.Builder
	switch {
	case s.AOF == "1" && s.FSync == "always":
		b.WriteString("What is acknowledged is on the server's disk (appendonly yes, appendfsync always).")
	case s.AOF == "1" && s.FSync == "everysec":
		b.WriteString("It survives a crash of the server's process; up to two seconds of what was acknowledged are lost when its machine goes down (appendonly yes, appendfsync everysec).")
	case s.AOF == "1" && s.FSync == "no":
		b.WriteString("It survives a crash of the server's process; what the system has not written yet is lost when its machine goes down (appendonly yes, appendfsync no).")
	case s.AOF == "1":
		b.WriteString("It survives a crash of the server's process (appendonly yes); how much is lost when its machine goes down is unknown, appendfsync cannot be read.")
	case s.KeepsNothing():
		b.WriteString("The server keeps nothing when its process ends (appendonly no, no snapshots).")
	case s.AOF == "0" && s.SaveRead:
		fmt.Fprintf(&b, "A crash of the server's process loses what came after its last snapshot (appendonly no, save %q).", s.Save)
	case s.AOF == "0":
		b.WriteString("A crash of the server's process loses what came after its last snapshot (appendonly no, save unknown).")
	default:
		b.WriteString("What a crash of the server's process loses is unknown: its settings cannot be read.")
	}
	if d > 0 {
		fmt.Fprintf(&b, " Append waits until %d of its replicas (%s connected) have it, so a failover to one of these loses nothing.", d, word(s.Replicas))
	} else {
		fmt.Fprintf(&b, " A failover to a replica (%s connected) loses what that lacks.", word(s.Replicas))
	}
	switch {
	case s.Evicts():
		b.WriteString(" Redis may evict keys of the queue when its memory is full (maxmemory-policy " + s.Eviction + ").")
	case s.Eviction == "":
		b.WriteString(" Whether Redis may evict keys when its memory is full is unknown.")
	}
	return b.String()
}
