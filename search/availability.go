package search

import (
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// missing returns the error for an api-version that lacks a capability, nil for
// one that has it.
func missing(version apiversion.Version, c apiversion.Capability) error {
	if version.Has(c) {
		return nil
	}
	return fmt.Errorf("api-version %s does not have it; set ClientOptions.APIVersion to %s", version, c.Versions())
}
