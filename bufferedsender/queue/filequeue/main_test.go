package filequeue

import (
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(otherProcessDir); dir != "" {
		panic(otherProcess(dir))
	}
	testkit.Main(m)
}
