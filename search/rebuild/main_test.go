package rebuild

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
