package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = outside.Close() })
	ioctl := func(request uintptr, value *uint32) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, outside.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, errno)
	}
	var number, unlocked uint32
	ioctl(syscall.TIOCGPTN, &number)
	ioctl(syscall.TIOCSPTLCK, &unlocked)
	inside, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return outside, inside
}

func TestProgressIsRedrawnOnATerminal(t *testing.T) {
	e := startEmulator(t, "-latency", "300ms")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	for name, c := range map[string]struct {
		env     []string
		redrawn bool
	}{
		"a terminal":     {[]string{"TERM=xterm"}, true},
		"without colour": {[]string{"TERM=xterm", "NO_COLOR=1"}, true},
		"dumb":           {[]string{"TERM=dumb"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, e.url, map[string]string{"hotels.jsonl": hotelLines(20_000)})
			outside, inside := openTerminal(t)
			cmd := s.command("load", "-index", "hotels", "hotels.jsonl")
			cmd.Env = append(cmd.Env, c.env...)
			var stdout bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, inside
			require.NoError(t, cmd.Start())
			require.NoError(t, inside.Close())
			shown := make(chan string, 1)
			go func() {
				all, _ := io.ReadAll(outside) // it ends with an error when the command has ended
				shown <- string(all)
			}()
			require.NoError(t, cmd.Wait())
			text := <-shown
			assert.Equal(t, c.redrawn, strings.Contains(text, "\r\x1b[K"), "%q", text)
			assert.Equal(t, c.redrawn, strings.Contains(text, "%"), "%q", text)
			assert.Contains(t, text, "loaded 20,000 documents")
			assert.NotContains(t, text, searchtest.AdminKey)
			if name == "without colour" {
				assert.NotContains(t, text, "\x1b[3", "%q", text)
			}
			assert.NotContains(t, stdout.String(), "\x1b", "what a program reads has no escape sequences")
		})
	}
}
