package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// verify compares what was accepted with the outcomes, and these with the indexes.
func (s *story) verify() error {
	var problems []string
	accepted, lost := 0, 0
	for _, name := range s.service.names {
		writes := s.ledger.writes(name)
		accepted += len(writes)
		problems = append(problems, compare(name, writes, s.service.held(name), name == doomed)...)
		if name == doomed {
			for _, w := range writes {
				if !w.completed() {
					lost++
				}
			}
		}
	}
	if given := s.dropped[doomed]; given == nil {
		problems = append(problems, fmt.Sprintf("the sender of %q was not dropped, or had nothing left", doomed))
	} else if n := given.Unsent + given.Unknown + given.Failed; n != lost {
		problems = append(problems, fmt.Sprintf("Drop has reported %d lost documents of %q, and their outcomes %d", n, doomed, lost))
	}
	if len(problems) > 0 {
		shown := problems[:min(10, len(problems))]
		return fmt.Errorf("%d problems: %s", len(problems), strings.Join(shown, "; "))
	}
	fmt.Fprintf(s.out, "%d documents were accepted; each has one outcome, and what was completed is in its index\n", accepted)
	return nil
}

// compare returns what is wrong with an index. Only of one that was deleted may something be lost: then documents are
// what it held at that moment.
func compare(index string, writes []*write, documents map[string]json.RawMessage, deleted bool) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%q: ", index)+fmt.Sprintf(format, args...))
	}
	if len(writes) == 0 {
		problem("nothing was written to it")
	}
	last := map[string]int64{} // the version of each key that the index has to hold
	for _, w := range writes {
		switch {
		case w.accepted != 1:
			problem("%s, version %d, has an outcome and was accepted %d times", w.item.ID, w.item.Version, w.accepted)
		case len(w.outcomes) != 1:
			problem("%s, version %d, has %d outcomes", w.item.ID, w.item.Version, len(w.outcomes))
		case w.completed():
			last[w.item.ID] = w.item.Version
		case !deleted:
			problem("%s, version %d, was lost: %v", w.item.ID, w.item.Version, w.outcomes[0].Err)
		}
	}
	for key, version := range last {
		switch has, err := versionOf(documents[key]); {
		case err != nil:
			problem("%s: %v", key, err)
		case has != version:
			problem("%s has version %d, and version %d was completed last", key, has, version)
		}
	}
	for key := range documents {
		if _, ok := last[key]; !ok {
			problem("%s is there, and was not completed", key)
		}
	}
	return problems
}

func versionOf(document json.RawMessage) (int64, error) {
	if document == nil {
		return 0, errors.New("it was completed, and is missing")
	}
	var item Item
	err := json.Unmarshal(document, &item)
	return item.Version, err
}
