package filequeue

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func TestOneProcessHasTheQueueAndTheErrorNamesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	q, err := Open(dir, nil)
	require.NoError(t, err)
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, fmt.Sprintf("process %d on", os.Getpid()))
	require.ErrorContains(t, err, dir)
	_, err = Repair(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, q.Close())
	require.NoError(t, q.Close(), "again")
	q, err = Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	report, err := Repair(dir, nil)
	require.NoError(t, err)
	require.Zero(t, report, "there was nothing to do")
}

func TestTheQueueOfAnotherIndexIsRefused(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, &Options{Index: "hotels", Endpoint: "https://a.search.windows.net"})
	require.NoError(t, err)
	require.NoError(t, q.Close())
	_, err = Open(dir, &Options{Index: "rooms"})
	require.ErrorIs(t, err, ErrOther)
	require.ErrorContains(t, err, `"hotels"`)
	_, err = Open(dir, &Options{Index: "hotels", Endpoint: "https://b.search.windows.net"})
	require.ErrorIs(t, err, ErrOther)
	q, err = Open(dir, nil)
	require.NoError(t, err, "who does not say what it is for is not asked")
	require.NoError(t, q.Close())
}

func TestANewerFormatIsRefusedWithASentence(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	path := filepath.Join(dir, segmentName(1))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	le.PutUint32(b[8:], formatVersion+1)
	le.PutUint32(b[12:], crc32.Checksum(b[16:headerSize], castagnoli))
	require.NoError(t, os.WriteFile(path, b, 0o600))
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "version 2")
}

func TestAQueueIsOpenedForReadingWithoutAnyChange(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none"), &Options{ReadOnly: true})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoDirExists(t, filepath.Join(dir, "none"))
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
	require.NoError(t, q.Close())
	before, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	require.NoError(t, err)

	q, err = Open(dir, &Options{ReadOnly: true})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"a": {`upload{"version":1}`}}, contents(t, q))
	require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), ErrReadOnly)
	_, err = q.Reserve(t.Context(), want(1))
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, q.Pause(t.Context(), "why"), ErrReadOnly)
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked, "what is looked at stays as it is")
	require.NoError(t, q.Close())
	after, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestADestroyedQueueIsGone(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
	require.NoError(t, q.Destroy(t.Context()))
	require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), queue.ErrClosed)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, lockName)}, names)
	q, err = Open(dir, nil)
	require.NoError(t, err)
	require.Empty(t, contents(t, q))
	require.NoError(t, q.Close())
}

func TestEveryWrongOptionIsNamed(t *testing.T) {
	_, err := Open(t.TempDir(), &Options{MaxKeys: -1, SegmentBytes: 7, Index: string(make([]byte, 200))})
	require.ErrorContains(t, err, "MaxKeys is -1")
	require.ErrorContains(t, err, "SegmentBytes is 7")
	require.ErrorContains(t, err, "Index has 200 bytes and")
}
