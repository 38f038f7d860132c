package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The output shows exactly what a program sees of each failure. A change of it is a change for users.
func TestFailuresLookAsTheyDid(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, show(t.Context(), &out))
	testkit.Golden(t, "output.txt", out.Bytes())
}

func TestOutputIsTheSameEveryTimeConcurrentSafe(t *testing.T) {
	var first, second bytes.Buffer
	require.NoError(t, show(t.Context(), &first))
	require.NoError(t, show(t.Context(), &second))
	require.Equal(t, first.String(), second.String())
	require.Equal(t, len(slices.Concat(refusedByTheSender, failedActions, failedCalls)), strings.Count(first.String(), "== "))
}

func TestStoryThatGoesOtherwiseIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := show(ctx, io.Discard)
	require.Error(t, err)
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
}
