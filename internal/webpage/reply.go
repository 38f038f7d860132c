package webpage

import (
	"encoding/json"
	"net/http"
)

// WriteJSON replies with v. json.Marshal escapes markup, so the reply is harmless even if a browser treats it as
// HTML.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Refuse replies with a list of problems.
func Refuse(w http.ResponseWriter, status int, problems ...string) {
	WriteJSON(w, status, map[string]any{"errors": problems})
}
