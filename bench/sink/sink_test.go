package sink

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

func TestSinkPrintsItsAddressAndEndsWithItsInput(t *testing.T) {
	stdin, closeStdin := io.Pipe()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(t.Context(), []string{"-latency", "1ms"}, cli.Streams{In: stdin, Out: stdout, Err: io.Discard})
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address = strings.TrimSpace(address)
	resp, err := http.Post(address+"/indexes('x')/docs/search.index", "application/json", strings.NewReader(`{"value":[{"id":"doc-1"}]}`))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.JSONEq(t, `{"value":[{"key":"doc-1","status":true,"errorMessage":null,"statusCode":200}]}`, string(body))

	require.NoError(t, closeStdin.Close())
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the sink does not end")
	}
}

func TestSinkRefusesFlagsItCannotUse(t *testing.T) {
	for _, args := range [][]string{{"-item-rate", "3"}, {"-latency", "soon"}, {"more"}} {
		require.Error(t, run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}), args)
	}
}
