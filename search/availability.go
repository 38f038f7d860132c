package search

import (
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// missing returns an error if the api-version lacks a capability, otherwise nil.
func missing(version apiversion.Version, c apiversion.Capability) error {
	if version.Has(c) {
		return nil
	}
	return fmt.Errorf("api-version %s does not have it; set ClientOptions.APIVersion to %s", version, c.Versions())
}
