package main

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commands trust the certificates that the system trusts, of which SSL_CERT_FILE names more.
func TestCommandsSpeakTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE is read on Linux only")
	}
	certificate := filepath.Join(t.TempDir(), "emulator.pem")
	e := startEmulator(t, "-tls", "-tls-cert-out", certificate)
	require.Contains(t, e.url, "https://")
	s := newSession(t, e.url, map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(3)})

	got := s.run("load", "-create", "hotels.json", "a.jsonl")
	assert.Equal(t, 3, got.code, "a certificate that nobody trusts")
	assert.Contains(t, got.stderr, "certificate")

	t.Setenv("SSL_CERT_FILE", certificate)
	got = s.run("load", "-create", "hotels.json", "a.jsonl")
	assert.Zero(t, got.code, got.stderr)
	got = s.run("backup", "-index", "hotels", "saved")
	assert.Zero(t, got.code, got.stderr)
	got = s.run("verify", "hotels", "a.jsonl")
	assert.Zero(t, got.code, got.stderr)
}
