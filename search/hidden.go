package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// keepsAll returns an error if a definition has members that the client's api-version does not show. An update in
// that version would remove them. For example, an index would lose its permission filters, and every user would see
// every document. If the service does not know the default version, it has no newer members.
func (k *definitionKind[T]) keepsAll(ctx context.Context, conn *connection, call call, name string) error {
	newest := apiversion.Of(apiversion.Default)
	if conn.apiVersion == newest || k.diff == nil {
		return nil
	}
	newer := *conn
	newer.apiVersion = newest
	whole, err := k.read(ctx, &newer, call, name)
	switch {
	case answered(err, http.StatusBadRequest), errors.Is(err, k.notFound):
		return nil
	case err != nil:
		return err
	}
	shown, err := k.read(ctx, conn, call, name)
	if err != nil {
		return err
	}
	changes, err := k.diff(whole, shown)
	if err != nil {
		return call.wrap(err)
	}
	var hidden []string
	for _, c := range changes {
		if c.New == nil {
			hidden = append(hidden, c.Path)
		}
	}
	if hidden == nil {
		return nil
	}
	return call.wrap(fmt.Errorf("the %s has %s, which api-version %s does not show and an update in it would remove; set ClientOptions.APIVersion to %s",
		k.noun, strings.Join(hidden, ", "), conn.apiVersion, newest))
}
