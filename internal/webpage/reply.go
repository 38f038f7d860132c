package webpage

import (
	"encoding/json"
	"net/http"
)

// WriteJSON answers with v. What could be taken for markup in it is escaped, so
// that it is harmless even where it is taken for HTML.
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

// Refuse answers with what is wrong.
func Refuse(w http.ResponseWriter, status int, problems ...string) {
	WriteJSON(w, status, map[string]any{"errors": problems})
}
