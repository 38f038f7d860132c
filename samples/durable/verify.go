package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// verify prints what has happened, and compares the index with what was acknowledged.
func (t *theatre) verify() error {
	var added, unsure, keys int64
	for _, l := range t.ledgers {
		added += l.tried
		unsure += l.unsure
		keys += int64(len(l.last))
	}
	var requests, sent int64
	for _, r := range t.service.Requests() {
		if r.Operation == searchtest.OpIndexDocuments {
			requests++
			sent += int64(r.Actions)
		}
	}
	took := time.Since(t.beginning).Seconds()
	fmt.Fprintf(t.out, "added     %d writes of %d keys in %.1f s; of %d it is not known, the process was killed meanwhile\n", added, keys, took, unsure)
	if t.cfg.kill {
		fmt.Fprintf(t.out, "disturbed %d kills, %d freezes\n", t.kills, t.freezes)
	} else {
		fmt.Fprintf(t.out, "restarted %d times\n", t.restarts)
	}
	fmt.Fprintf(t.out, "sent      %d documents in %d requests", sent, requests)
	if saved := added - sent; saved > 0 {
		fmt.Fprintf(t.out, ": folding saved %d writes (%d %%)", saved, 100*saved/added)
	}
	fmt.Fprintln(t.out)
	if t.released > 0 {
		fmt.Fprintf(t.out, "released  %d keys that were parked because three processes had died with them\n", t.released)
	}
	documents := t.service.Documents(indexName)
	if problems := compare(t.ledgers, documents); len(problems) > 0 {
		shown := problems[:min(10, len(problems))]
		return fmt.Errorf("the index is wrong about %d keys: %s", len(problems), strings.Join(shown, "; "))
	}
	if added == 0 || sent == 0 {
		return fmt.Errorf("nothing has happened: %d writes were added and %d sent", added, sent)
	}
	fmt.Fprintf(t.out, "index     %d documents: each has the last write that was acknowledged, or one after it whose process was killed\n", len(documents))
	return nil
}
