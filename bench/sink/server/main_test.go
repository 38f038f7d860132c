package server

import (
	"net/http"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) {
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true // idle connections are not leaks
	testkit.Main(m)
}
