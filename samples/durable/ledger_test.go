package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// index returns the documents of some writes.
func index(t *testing.T, adder int, writes ...int64) map[string]Doc {
	t.Helper()
	documents := map[string]Doc{}
	for _, n := range writes {
		documents[keyOf(adder, n)] = Doc{ID: keyOf(adder, n), Version: n}
	}
	return documents
}

// twice returns two writes of one key.
func twice() (older, newer int64) {
	seen := map[string]int64{}
	for n := int64(1); ; n++ {
		if older, ok := seen[keyOf(1, n)]; ok {
			return older, n
		}
		seen[keyOf(1, n)] = n
	}
}

func upTo(n int64) (all []int64) {
	for i := int64(1); i <= n; i++ {
		all = append(all, i)
	}
	return all
}

func TestLastAcknowledgedWriteOfEachKeyMustBeInTheIndex(t *testing.T) {
	older, newer := twice()
	l := newLedger(1)
	require.NoError(t, l.try(1, newer))
	require.NoError(t, l.ack(1, newer))
	l.died()
	all := upTo(newer)
	assert.Empty(t, compare([]*ledger{l}, index(t, 1, all...)))

	documents := index(t, 1, append(all, older)...)
	problems := compare([]*ledger{l}, documents)
	assert.Equal(t, []string{fmt.Sprintf("%s: write %d was the last one that was acknowledged, and the index has write %d", keyOf(1, newer), newer, older)}, problems)

	documents = index(t, 1, all...)
	delete(documents, keyOf(1, newer))
	problems = compare([]*ledger{l}, documents)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "does not have the document")

	documents = index(t, 1, all...)
	documents["another"] = Doc{}
	assert.Equal(t, []string{"another: no adder has added it"}, compare([]*ledger{l}, documents))
}

func TestWriteWhoseProcessDiedMayBeInTheIndexOrNot(t *testing.T) {
	older, newer := twice()
	l := newLedger(1)
	require.NoError(t, l.try(1, newer-1))
	require.NoError(t, l.ack(1, newer-1))
	require.NoError(t, l.try(newer, newer))
	l.died()
	assert.EqualValues(t, 1, l.unsure)
	all := upTo(newer - 1)
	assert.Empty(t, compare([]*ledger{l}, index(t, 1, all...)))
	assert.Empty(t, compare([]*ledger{l}, index(t, 1, append(all, newer)...)))

	// The next process writes the key again, with an acknowledgement.
	last := newer + 1
	for keyOf(1, last) != keyOf(1, newer) {
		last++
	}
	require.NoError(t, l.try(newer+1, last))
	require.NoError(t, l.ack(newer+1, last))
	l.died()
	for _, wrong := range []int64{older, newer} {
		documents := index(t, 1, upTo(last)...)
		for key, doc := range index(t, 1, wrong) {
			documents[key] = doc
		}
		problems := compare([]*ledger{l}, documents)
		require.Len(t, problems, 1, "write %d is older than one that was acknowledged", wrong)
	}
}

func TestReportsThatMakeNoSenseAreNoticed(t *testing.T) {
	l := newLedger(1)
	require.Error(t, l.try(2, 3))
	require.NoError(t, l.try(1, 3))
	require.Error(t, l.ack(1, 2))
	require.NoError(t, l.ack(1, 3))
	require.Error(t, l.ack(1, 3))
}
