package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Wait waits for d or the end of ctx, and reports whether ctx is still valid.
func Wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// ErrPatience is the error of Until after its patience.
var ErrPatience = errors.New("it has taken too long")

// Until calls done repeatedly until it returns true or an error, or until patience or ctx ends.
func Until(ctx context.Context, patience, every time.Duration, done func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; {
		ok, err := done()
		switch {
		case err != nil || ok:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("%w: %v", ErrPatience, patience)
		case !Wait(ctx, every):
			return ctx.Err()
		}
	}
}

// Close closes a sender within 15 seconds. It continues after the end of ctx (Ctrl-C), so that accepted documents are
// sent.
func Close(ctx context.Context, sender interface{ Close(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	return sender.Close(ctx)
}

// Documents returns the documents of an emulator's index by key.
func Documents[T any](s *Service, index string) (map[string]T, error) {
	all := map[string]T{}
	for key, content := range s.Emulator.Documents(index) {
		var doc T
		if err := json.Unmarshal(content, &doc); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		all[key] = doc
	}
	return all, nil
}

// Differences compares an index with its expected documents.
func Differences[T any](want, has map[string]T) (problems []string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got, there := has[key]; !there {
			problems = append(problems, key+": the index does not have it")
		} else if !reflect.DeepEqual(got, want[key]) {
			problems = append(problems, fmt.Sprintf("%s: the index should have %+v, and has %+v", key, want[key], got))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if _, there := want[key]; !there {
			problems = append(problems, key+": only the index has it")
		}
	}
	return problems
}

// Problems returns an error with the first ten problems, nil if there are none.
func Problems(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	shown := problems[:min(10, len(problems))]
	if len(shown) < len(problems) {
		shown = append(slices.Clone(shown), "…")
	}
	return fmt.Errorf("%d problems: %s", len(problems), strings.Join(shown, "; "))
}
