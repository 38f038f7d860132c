package outbox

import (
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		panic(childMain(job))
	}
	servers.Main(m)
}
