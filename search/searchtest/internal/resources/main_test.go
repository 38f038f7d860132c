package resources

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
