package webpage

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// shared are the files that every page has: base.css, dom.js, icon.svg.
//
//go:embed page
var shared embed.FS

// contentTypes are set explicitly, because the types that the operating system assigns to extensions may be wrong for
// browsers.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// ServeFile replies with a file from the folder page of own, or else from the shared files.
func ServeFile(w http.ResponseWriter, own fs.FS, name string) {
	content, err := fs.ReadFile(own, "page/"+name)
	if err != nil {
		content, err = shared.ReadFile("page/" + name)
	}
	if err != nil {
		Refuse(w, http.StatusNotFound, "file not found")
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	_, _ = w.Write(content)
}
