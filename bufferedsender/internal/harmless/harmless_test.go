package harmless

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/models"
)

// said is an error of the service.
type said struct {
	models.ServiceError
	message string
}

func (s said) Error() string          { return "request: " + s.message }
func (s said) ServiceMessage() string { return s.message }
func (said) LogReason() string        { return "" }

func TestTheServicesOwnWordsAreBoundedAndQuoteNothing(t *testing.T) {
	for message, want := range map[string]string{
		"The key was disabled\nby  its owner.":             "403 Forbidden: The key was disabled by its owner.",
		"You're over it, don't retry.":                     "403 Forbidden: You’re over it, don’t retry.",
		"The literal 'Smith' and \"Jones\" of document 'k": "403 Forbidden: The literal … and … of document …",
		"The value 'it's Smith's' is odd.":                 "403 Forbidden: The value … is odd.",
		strings.Repeat("ü", 300):                           "403 Forbidden: " + strings.Repeat("ü", 100) + "…",
	} {
		assert.Equal(t, want, Words(http.StatusForbidden, said{message: message}))
	}
	assert.Equal(t, "400 Bad Request", Words(http.StatusBadRequest, said{message: "The key is Smith"}), "it may be about a document")
}
