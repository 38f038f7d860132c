package search

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionsAreToldApart(t *testing.T) {
	both := availability{stable: "2024-07-01", preview: "2024-03-01"}
	for version, has := range map[string]bool{
		"2024-07-01": true, "2026-04-01": true, "2023-11-01": false,
		"2024-03-01-preview": true, "2024-03-01-Preview": true, "2023-10-01-preview": false, "2025-01-01-preview": true,
	} {
		require.Equal(t, has, both.in(version), version)
	}
	require.False(t, availability{preview: "2024-05-01"}.in("2030-01-01"), "a stable version lacks what only previews have")
	require.True(t, availability{stable: "2024-05-01"}.in("2024-05-01-preview"))
}
