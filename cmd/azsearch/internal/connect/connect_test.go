package connect

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestEmulatorIsAService(t *testing.T) {
	s, err := open(t.Output(), "emulator", "", "", 0)
	require.NoError(t, err)
	_, err = s.CreateIndex(t.Context(), models.SearchIndex{Name: "hotels", Fields: []models.SearchField{{Name: "id", Type: models.DataTypeString, Key: new(true)}}}, nil)
	require.NoError(t, err)
	for _, name := range []string{"b", "Hotels"} { // nothing is sent
		_, err = s.GetIndex(t.Context(), name, nil)
		require.Error(t, err)
		assert.Equal(t, exit.Usage, exit.Code(Failed(err)))
		_, err = s.GetIndexStatistics(t.Context(), name, nil)
		require.Error(t, err)
		assert.Equal(t, exit.Usage, exit.Code(Failed(fmt.Errorf("reading: %w", err))))
	}
	_, err = s.GetIndex(t.Context(), "none", nil)
	assert.Equal(t, exit.Service, exit.Code(Failed(err)))
	assert.ErrorContains(t, Failed(err), "azsearch load -create")
	assert.ErrorContains(t, Failed(fmt.Errorf("reading: %w", err)), "azsearch load -create")
	for _, err := range []error{Failed(err), Failed(fmt.Errorf("reading: %w", err))} {
		assert.Regexp(t, `^the index "none" does not exist on \S+ check its name`, err.Error(), "once, and first")
	}
	assert.NotContains(t, Failed(err).Error(), "IndexClient", "the reader may know no Go")
	assert.NoError(t, s.Close())
}

func TestServiceThatCannotBeNamedIsUsage(t *testing.T) {
	for endpoint, says := range map[string]string{
		"":                             EndpointVariable,
		"ftp://x.search.windows.net":   "http",
		"https://x.search.windows.net": "secret", // the key ends with a newline
	} {
		_, err := open(t.Output(), endpoint, "secret\nx", "", 0)
		if says == "secret" {
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "secret", "no secret in output")
			continue
		}
		assert.ErrorContains(t, err, says)
		assert.Equal(t, exit.Usage, exit.Code(err))
	}
}

func TestFailureOfTheServiceSaysWhatToDo(t *testing.T) {
	assert.NoError(t, Failed(nil))
	for _, c := range []struct {
		err  error
		says string
	}{
		{&search.Error{StatusCode: http.StatusForbidden}, KeyVariable},
		{&search.Error{StatusCode: http.StatusNotFound, Message: "no index"}, "no index"},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, "check the endpoint"},
	} {
		err := Failed(c.err)
		assert.ErrorContains(t, err, c.says)
		assert.Equal(t, exit.Service, exit.Code(err))
		assert.ErrorIs(t, err, c.err)
	}
	assert.NotContains(t, Failed(errors.New("the index name is too long")).Error(), "network")
	assert.Equal(t, 0, exit.Code(nil))
	assert.Equal(t, exit.Incomplete, exit.Code(exit.With(exit.Incomplete, errors.New("x"))))
	assert.NoError(t, exit.With(exit.Incomplete, nil))
}
