package wholeindex

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Page returns an error if the reply to a query says that it lacks results. It may have status 206, cover less than
// 100 percent of the index (nil if it does not say), or have a member "error" next to its results. The error does not
// quote that member, because the service may name documents in it.
func Page(status int, coverage *float64, members map[string]json.RawMessage) error {
	switch failed, has := members["error"]; {
	case status != 200:
		return fmt.Errorf("results are missing: the reply is partial, HTTP %d", status)
	case coverage != nil && *coverage < 100:
		return fmt.Errorf("results are missing: the reply covers %v %% of the index", *coverage)
	case has && string(failed) != "null":
		return errors.New("results are missing: the reply has an error next to its results")
	}
	return nil
}
