package keys_test

import (
	"fmt"

	"github.com/go-azsearch/azsearch/models/keys"
)

func ExampleEncode() {
	for _, path := range []string{"hotel-7", "blobs/2026/a b.pdf", ""} {
		key := keys.Encode(path)
		back, err := keys.Decode(key)
		fmt.Printf("%q → %s → %q %v\n", path, key, back, err)
	}
	// Output:
	// "hotel-7" → hotel-7 → "hotel-7" <nil>
	// "blobs/2026/a b.pdf" → b64-YmxvYnMvMjAyNi9hIGIucGRm → "blobs/2026/a b.pdf" <nil>
	// "" → b64- → "" <nil>
}

func ExampleHash() {
	// For strings of more than keys.MaxEncodable bytes.
	fmt.Println(keys.Hash("https://example.com/a/very/long/address"))
	// Output: sha256-fBdHbX7HvRG7DnJhZeIZcTjvC2h6iKOCHozbmgfQyVY
}

func ExampleValidate() {
	fmt.Println(keys.Validate("hotel 7"))
	// Output: invalid document key "hotel 7": a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)
}

func ExampleDecode() {
	fmt.Println(keys.Decode("b64-YmxvYnMvMjAyNi9hIGIucGRm"))
	_, err := keys.Decode(keys.Hash("an address that was too long"))
	fmt.Println(err)
	// Output:
	// blobs/2026/a b.pdf <nil>
	// decode document key: key is a hash
}
