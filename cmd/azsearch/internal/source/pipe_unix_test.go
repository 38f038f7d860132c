//go:build unix

package source

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFIFOThatHasNoWriterIsReleased(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(10*time.Millisecond, cancel).Stop()
	_, err := Open(ctx, name, Options{})
	assert.ErrorIs(t, err, context.Canceled)
	w, err := os.OpenFile(name, os.O_WRONLY, 0) // ends the goroutine that opens it
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func TestFIFOWhoseWriterIsSilentIsReleased(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	opened := make(chan *os.File, 1)
	go func() {
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			_, err = w.WriteString("{}\n")
			assert.NoError(t, err)
		}
		opened <- w
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, err := Open(ctx, name, Options{})
	require.NoError(t, err)
	defer f.Close()
	w := <-opened
	defer w.Close()
	b, err := f.Next()
	require.NoError(t, err)
	assert.Equal(t, "{}\n", string(b.Data))
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = f.Next()
	assert.ErrorIs(t, err, context.Canceled)
}
