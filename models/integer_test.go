package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

func TestInt64IsTheIntegerThatIsWrittenHoweverItIsWritten(t *testing.T) {
	for text, want := range map[string]int64{
		"9007199254740993.0":                    9007199254740993, // a float64 would give …992
		"9223372036854775807.000":               math.MaxInt64,
		"-9223372036854775808.0":                math.MinInt64,
		"9.223372036854775807e18":               math.MaxInt64,
		"-9.223372036854775808E+18":             math.MinInt64,
		"922337203685477580700e-2":              math.MaxInt64,
		"1e18":                                  1e18,
		"-0":                                    0,
		"-0.0":                                  0,
		"0e999999999999999999999":               0,
		"0.000e-5":                              0,
		"120e-1":                                12,
		"0.00012e5":                             12,
		"1" + strings.Repeat("0", 60) + "e-60":  1,
		"0." + strings.Repeat("0", 59) + "7e60": 7,
		"5." + strings.Repeat("0", 400):         5,
		"100" + strings.Repeat("0", 400) + ".0e-402": 1,
	} {
		n, err := models.Document{"n": json.Number(text)}.Int64("n")
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
}

func TestInt64RefusesWhatAFloat64WouldRoundToAnInteger(t *testing.T) {
	for text, says := range map[string]string{
		"5.00000000000000000001":  "is not an integer",
		"9007199254740991.4":      "is not an integer", // float64s are 1 apart there
		"-4503599627370496.1":     "is not an integer",
		"1e-400":                  "is not an integer", // 0 as a float64
		"1e-99999999999999999999": "is not an integer",
		"12e-1":                   "is not an integer",
		"9223372036854775808":     "is out of range",
		"9223372036854775808.0":   "is out of range",
		"-9223372036854775809.0":  "is out of range",
		"1e19":                    "is out of range",
		"1e400":                   "is out of range",
		"-1e99999999999999999999": "is out of range",
		"":                        "is not a number",
		"abc":                     "is not a number",
		"0x10":                    "is not a number",
		"1_000.0":                 "is not a number",
		"1.":                      "is not a number",
		".5":                      "is not a number",
		"1e":                      "is not a number",
		"1e+":                     "is not a number",
		"--1.0":                   "is not a number",
		"Inf":                     "is not a number",
		"NaN":                     "is not a number",
		"1.0\n":                   "is not a number",
	} {
		_, err := models.Document{"n": json.Number(text)}.Int64("n")
		require.ErrorContains(t, err, says, text)
		_, err = models.Document{"n": []any{json.Number("1"), json.Number(text)}}.Int64s("n")
		require.ErrorContains(t, err, "element 1: ", text)
	}
	_, err := models.Document{"n": json.Number("0." + strings.Repeat("7", 1000))}.Int64("n")
	require.Less(t, len(err.Error()), 120, "a long number is not repeated in full")
}

// The exact reference uses rational numbers, for exponents that are small enough.
func TestInt64AgreesWithExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		if rapid.Bool().Draw(t, "near an integer") {
			n := rapid.Int64().Draw(t, "n")
			shift := rapid.IntRange(0, 30).Draw(t, "shift")
			text = fmt.Sprintf("%d%se-%d", n, strings.Repeat("0", shift), shift)
			if rapid.Bool().Draw(t, "off by a little") {
				text = fmt.Sprintf("%d.%s1", n, strings.Repeat("0", shift))
			}
		}
		r, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		got, err := models.Document{"n": json.Number(text)}.Int64("n")
		if r.IsInt() && r.Num().IsInt64() {
			require.NoError(t, err)
			require.Equal(t, r.Num().Int64(), got)
		} else {
			require.Error(t, err)
		}
	})
}
