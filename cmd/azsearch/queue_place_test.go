package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPasswordOfRedisNeedsNoURL(t *testing.T) {
	t.Setenv(redisUser, "app")
	t.Setenv(redisPassword, "S3/CRET")
	for where, want := range map[string]string{
		"redis://h:6379/0?name=q":        "redis://app:S3%2FCRET@h:6379/0",
		"redis://other@h:6379/0?name=q":  "redis://other:S3%2FCRET@h:6379/0",
		"rediss://a:other@h:6379?name=q": "rediss://a:other@h:6379",
	} {
		p, err := parsePlace(where, "")
		require.NoError(t, err)
		assert.Equal(t, want, p.address())
		assert.NotContains(t, p.String(), "S3")
	}
	t.Setenv(redisPassword, "")
	p, err := parsePlace("redis://h/0?name=q", "")
	require.NoError(t, err)
	assert.Equal(t, "redis://h/0", p.address())
}
