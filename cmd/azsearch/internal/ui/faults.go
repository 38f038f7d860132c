package ui

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// preset is a fault script with a button on the page.
type preset struct {
	Label  string          `json:"label"`
	Script json.RawMessage `json:"script"`
}

//go:embed presets.json
var presetsText []byte

// presets are in the order of the buttons.
var presets = mustPresets()

func mustPresets() []preset {
	var out []preset
	if err := json.Unmarshal(presetsText, &out); err != nil {
		panic(err) // a test parses the file
	}
	return out
}

// faultsInForce describes the active script.
type faultsInForce struct {
	// Script is its text as sent, "" for none.
	Script string `json:"script"`
	// Label is the label of the preset with the same script, else a summary; "" for none.
	Label string `json:"label"`
	// Since is the time of activation; without a script, the time when the last one was deactivated.
	Since time.Time `json:"since"`
}

func (p *Page) inForce() faultsInForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}

// mostScript is the maximum size of a script in bytes.
const mostScript = 1 << 20

// putFaults activates the script in the body, starting at its first rule.
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

// deleteFaults deactivates the script.
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

// labelOf returns the label of the preset that equals script, whatever its formatting, else a summary.
func labelOf(script *searchtest.Faults) string {
	for _, preset := range presets {
		if same, err := searchtest.ParseFaults(bytes.NewReader(preset.Script)); err == nil && reflect.DeepEqual(script, same) {
			return preset.Label
		}
	}
	rules := "a script of " + amount.Of(len(script.Rules), "rule")
	if script.Capacity != nil {
		rules += " and a capacity"
	}
	return rules
}
