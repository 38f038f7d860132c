package keys_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models/keys"
)

// service is the rule that the service documents.
var service = regexp.MustCompile(`^[A-Za-z0-9=-][A-Za-z0-9_=-]*$`)

func TestKeyIsCheckedAgainstTheRuleItBreaks(t *testing.T) {
	for _, c := range []struct{ key, rule string }{
		{"1", ""}, {"aZ09_-=", ""}, {"-", ""}, {"=", ""}, {"a_", ""},
		{strings.Repeat("k", 1024), ""},
		{strings.Repeat("k", 1025), "longer than 1024 bytes"},
		{"", "must not be empty"},
		{"_a", "must not start with an underscore"},
		{"a b", "can only contain"}, {"a/b", "can only contain"}, {"é", "can only contain"}, {"a\n", "can only contain"},
		{"a\x00", "can only contain"}, {"'", "can only contain"}, {"a+b", "can only contain"}, {"a.b", "can only contain"}, {"\xff", "can only contain"},
	} {
		err := keys.Validate(c.key)
		if c.rule == "" {
			require.NoError(t, err, "%q", c.key)
			continue
		}
		var invalid *keys.InvalidKeyError
		require.ErrorAs(t, err, &invalid, "%q", c.key)
		require.Equal(t, c.key, invalid.Key)
		require.Contains(t, invalid.Rule, c.rule)
		require.ErrorContains(t, err, invalid.Rule)
	}
}

func TestErrorAboutALongKeyIsShort(t *testing.T) {
	err := keys.Validate(strings.Repeat("k", 1<<20))
	require.ErrorContains(t, err, "(1048576 bytes)")
	require.Less(t, len(err.Error()), 300)
}

func TestLegalKeyStaysAsItIs(t *testing.T) {
	for _, s := range []string{"1", "hotel-7", "a_b=c", "b64", "B64-x", "sha256", strings.Repeat("k", 1024)} {
		require.Equal(t, s, keys.Encode(s))
		got, err := keys.Decode(s)
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
}

func TestEncodedFormIsStable(t *testing.T) {
	// Existing indexes have these keys, so a change would orphan documents.
	for s, want := range map[string]string{
		"":             "b64-",
		"a/b":          "b64-YS9i",
		"_x":           "b64-X3g",
		"b64-":         "b64-YjY0LQ",
		"sha256-x":     "b64-c2hhMjU2LXg",
		"\xff\xfe\xfd": "b64-__79",
	} {
		require.Equal(t, want, keys.Encode(s))
	}
	require.Equal(t, "sha256-ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0", keys.Hash("abc"))
}

func TestDecodeReversesEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		s = rapid.SampledFrom([]string{"", "b64-", "sha256-", "_"}).Draw(t, "prefix") + s
		got, err := keys.Decode(keys.Encode(s))
		require.NoError(t, err)
		require.Equal(t, s, got)
	})
}

func TestEveryStringUpToMaxEncodableGetsALegalKey(t *testing.T) {
	for _, n := range []int{0, 1, keys.MaxEncodable - 1, keys.MaxEncodable} {
		require.NoError(t, keys.Validate(keys.Encode(strings.Repeat("/", n))), n)
	}
	require.Error(t, keys.Validate(keys.Encode(strings.Repeat("/", keys.MaxEncodable+1))))
	require.Equal(t, 765, keys.MaxEncodable)
}

func TestDecodeRefusesWhatEncodeNeverMakes(t *testing.T) {
	for key, want := range map[string]error{
		"b64-YQ":       keys.ErrNotEncoded, // "a" needs no encoding
		"b64-YS9j=":    keys.ErrNotEncoded, // padding
		"b64-YS8+":     keys.ErrNotEncoded, // another alphabet
		"b64-X3h":      keys.ErrNotEncoded, // trailing bits are not zero
		"b64-YS9i\n":   keys.ErrNotEncoded,
		"b64-!":        keys.ErrNotEncoded,
		keys.Hash("x"): keys.ErrHashed,
	} {
		_, err := keys.Decode(key)
		require.ErrorIs(t, err, want, "%q", key)
	}
	for _, key := range []string{"", "a/b", "_a", strings.Repeat("k", 1025)} {
		_, err := keys.Decode(key)
		require.ErrorAs(t, err, new(*keys.InvalidKeyError), "%q", key)
	}
}

func TestHashIsLegalShortAndApartFromEncodedKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		h := keys.Hash(s)
		require.NoError(t, keys.Validate(h))
		require.Len(t, h, 50)
		require.NotEqual(t, h, keys.Encode(h))
	})
}

func TestValidateDoesNotAllocateForALegalKey(t *testing.T) {
	key := strings.Repeat("k", 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if keys.Validate(key) != nil {
			t.Fatal("refused")
		}
	}))
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "a", "b64-", "b64-YS9i", "b64-YQ", "sha256-x", "_", "b64-YS9i\n", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if (keys.Validate(s) == nil) != (service.MatchString(s) && len(s) <= 1024) {
			t.Fatalf("Validate(%q) disagrees with the rule", s)
		}
		// Encode maps every string to a unique key …
		key := keys.Encode(s)
		back, err := keys.Decode(key)
		if err != nil || back != s {
			t.Fatalf("Decode(Encode(%q)) = %q, %v", s, back, err)
		}
		if len(s) <= keys.MaxEncodable && keys.Validate(key) != nil {
			t.Fatalf("Encode(%q) = %q, not legal", s, key)
		}
		// … and Decode accepts only these keys, so no two keys mean the same string.
		if d, err := keys.Decode(s); err == nil && keys.Encode(d) != s {
			t.Fatalf("Decode(%q) = %q, which encodes to %q", s, d, keys.Encode(d))
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{10, 60, 1024} {
		key := strings.Repeat("k", n)
		b.Run(fmt.Sprintf("%d bytes", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if keys.Validate(key) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
