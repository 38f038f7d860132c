package models

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Why a number cannot be an int64, after "it is".
var (
	errNotANumber   = errors.New("not a number")
	errNotAnInteger = errors.New("not an integer")
	errOutOfRange   = errors.New("out of range")
)

// integer reads a JSON number that must be an integer of 64 bits, by its digits:
// a detour over a float64 would round 5.00000000000000000001 to 5.
func integer(number string) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, nil // as the service writes them
	}
	n, err := decimal(number)
	if err != nil {
		return 0, fmt.Errorf("%.40s is %w", number, err)
	}
	return n, nil
}

var decimalNumber = regexp.MustCompile(`^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// decimal reads a number with a fraction or an exponent.
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
	// The number is trimmed × 10^power. An exponent that is out of range is read as
	// the nearest int64, and that is far out as well; the bounds keep the sum from
	// overflowing.
	const most = 1 << 40
	exponent, _ := strconv.ParseInt(parts[4], 10, 64)
	power := min(max(exponent, -most), most) - int64(len(fraction)) + int64(len(digits)-len(trimmed))
	switch {
	case power < 0:
		return 0, errNotAnInteger
	case int64(len(trimmed))+power > 19: // as many digits as the largest int64 has
		return 0, errOutOfRange
	}
	n, err := strconv.ParseInt(sign+trimmed+strings.Repeat("0", int(power)), 10, 64)
	if err != nil {
		return 0, errOutOfRange
	}
	return n, nil
}
