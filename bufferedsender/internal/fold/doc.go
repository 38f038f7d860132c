// Package fold is for the sender: it makes one action of two that wait for the
// same key, so that a key that changes often costs one write and not many.
package fold
