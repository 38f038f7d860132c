package rebuild

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(otherProcess); job != "" {
		if err := otherMain(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	servers.Main(m)
}
