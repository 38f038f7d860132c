package models

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The reasons why a number is not an int64, to follow "it is".
var (
	errNotANumber   = errors.New("not a number")
	errNotAnInteger = errors.New("not an integer")
	errOutOfRange   = errors.New("out of range")
)

// integer parses a JSON number that must be a 64-bit integer, digit by digit. float64 would round
// 5.00000000000000000001 to 5.
func integer(number string) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, nil // the usual notation of the service
	}
	n, err := decimal(number)
	if err != nil {
		return 0, fmt.Errorf("%.40s is %w", number, err)
	}
	return n, nil
}

var decimalNumber = regexp.MustCompile(`^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// decimal parses a number with a fraction or an exponent.
func decimal(number string) (int64, error) {
	parts := decimalNumber.FindStringSubmatch(number)
	if parts == nil {
		return 0, errNotANumber
	}
	sign, fraction := parts[1], parts[3]
	digits := strings.TrimLeft(parts[2]+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return 0, nil // whatever the exponent
	}
	// The number is trimmed × 10^power. ParseInt clamps an exponent out of range to the nearest int64; the bounds then
	// keep the sum from overflowing.
	const most = 1 << 40
	exponent, _ := strconv.ParseInt(parts[4], 10, 64)
	power := min(max(exponent, -most), most) - int64(len(fraction)) + int64(len(digits)-len(trimmed))
	switch {
	case power < 0:
		return 0, errNotAnInteger
	case int64(len(trimmed))+power > 19: // the largest int64 has 19 digits
		return 0, errOutOfRange
	}
	n, err := strconv.ParseInt(sign+trimmed+strings.Repeat("0", int(power)), 10, 64)
	if err != nil {
		return 0, errOutOfRange
	}
	return n, nil
}
