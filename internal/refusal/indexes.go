package refusal

import (
	"encoding/json"
	"fmt"
)

// Index returns the faults of the name, the key and the encryption of an index. The rules of its fields are the
// emulator's.
func Index(definition json.RawMessage) (l faults, err error) {
	var x struct {
		Name          string
		Fields        []Field
		EncryptionKey *encryptionKey
	}
	if err := decode(definition, &x); err != nil {
		return nil, err
	}
	l.name("Index", x.Name)
	l.encryption(x.EncryptionKey)
	keys := 0
	for _, f := range x.Fields {
		if f.Key {
			keys++
		}
	}
	if reason := Keys(x.Name, keys); reason != "" {
		l.add(Fault{
			Kind: Value, Path: "fields", Problem: fmt.Sprintf("%d of the %d fields are keys", keys, len(x.Fields)),
			Fix: `set "key" to true in exactly one field of type Edm.String`, Service: reason,
		})
	}
	return l, nil
}

// Keys returns the message of the service about an index with a number of key fields, or "" if that is right.
func Keys(index string, keys int) string {
	if keys == 1 {
		return ""
	}
	return fmt.Sprintf("Found %d key fields in index '%s'. Each index must have exactly one key field.", keys, index)
}
