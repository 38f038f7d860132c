package sendertest

import "context"

// Tap is a models.Tap made of functions. A nil *Tap counts as none.
type Tap struct {
	BeforeKeys  func(keys []string) error
	ConfirmKeys func(keys []string) (bool, error)
}

// Before implements models.Tap.
func (t *Tap) Before(_ context.Context, keys []string) error { return t.BeforeKeys(keys) }

// Confirm implements models.Tap.
func (t *Tap) Confirm(_ context.Context, keys []string) (bool, error) { return t.ConfirmKeys(keys) }
