package ui

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// preset is a script behind a button.
type preset struct {
	Label  string          `json:"label"`
	Script json.RawMessage `json:"script"`
}

//go:embed presets.json
var presetsText []byte

// presets are the buttons, in order.
var presets = mustPresets()

func mustPresets() []preset {
	var out []preset
	if err := json.Unmarshal(presetsText, &out); err != nil {
		panic(err) // a test reads them all
	}
	return out
}

// faultsInForce is the script in force.
type faultsInForce struct {
	// Script is its text, as it was sent, "" for none.
	Script string `json:"script"`
	// Label is what to call it: like the button that it is behind, or by what there
	// is in it. It is "" if there is none.
	Label string `json:"label"`
	// Since is when it came into force, or ended if there is none.
	Since time.Time `json:"since"`
}

func (p *Page) inForce() faultsInForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}

// mostScript is the size of the largest script, in bytes.
const mostScript = 1 << 20

// putFaults puts the script in the body in force, from its beginning.
func (p *Page) putFaults(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostScript))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		webpage.Refuse(w, status, err.Error())
		return
	}
	script, err := searchtest.ParseFaults(bytes.NewReader(text))
	if err != nil {
		webpage.Refuse(w, http.StatusBadRequest, strings.Split(err.Error(), "\n")...)
		return
	}
	webpage.WriteJSON(w, http.StatusOK, p.setFaults(script, string(text)))
}

// deleteFaults ends the script in force.
func (p *Page) deleteFaults(w http.ResponseWriter, _ *http.Request) {
	webpage.WriteJSON(w, http.StatusOK, p.setFaults(nil, ""))
}

func (p *Page) setFaults(script *searchtest.Faults, text string) faultsInForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.srv.SetFaults(script)
	p.faults = faultsInForce{Script: text, Since: time.Now()}
	if script != nil {
		p.faults.Label = labelOf(script)
	}
	return p.faults
}

// labelOf is the label of a script, however it was spelled.
func labelOf(script *searchtest.Faults) string {
	for _, preset := range presets {
		if same, err := searchtest.ParseFaults(bytes.NewReader(preset.Script)); err == nil && reflect.DeepEqual(script, same) {
			return preset.Label
		}
	}
	rules := fmt.Sprintf("a script of %d rules", len(script.Rules))
	if len(script.Rules) == 1 {
		rules = "a script of one rule"
	}
	if script.Capacity != nil {
		rules += " and a capacity"
	}
	return rules
}
