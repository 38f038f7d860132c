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

// Wait waits, and reports whether ctx has not ended.
func Wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// ErrPatience is the error of Until when the time is over.
var ErrPatience = errors.New("it has taken too long")

// Until asks again and again until done says so, fails, or the time is over.
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

// Close closes a sender within 15 seconds. It does not end with ctx, as by Ctrl-C, so that what was accepted is sent.
func Close(ctx context.Context, sender interface{ Close(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	return sender.Close(ctx)
}

// Documents returns what an index of an emulator holds.
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

// Differences compares an index with what it has to hold, document by document.
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

// Problems makes an error of a list, which it cuts after ten; nil if there are none.
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
