// Package shell quotes words of the commands in messages.
package shell

import (
	"fmt"
	"strings"
)

// Word quotes a word for a POSIX shell, if it needs that.
func Word(word string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, plain) < 0 {
		return word
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(word, "'", `'\''`))
}
