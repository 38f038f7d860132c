package ui

import (
	"embed"
	"net/http"
	"path"
)

//go:embed page
var files embed.FS

// contentTypes is said here: what the operating system thinks of the endings is
// not always what a browser accepts.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// serveFile answers with a file of the page.
func serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, err := files.ReadFile("page/" + name)
		if err != nil {
			refuse(w, http.StatusNotFound, "there is no such file")
			return
		}
		w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
		_, _ = w.Write(content)
	}
}
