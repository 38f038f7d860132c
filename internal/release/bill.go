package main

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// bill is a software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), with the required
// members only.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp time.Time `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf returns the bill of a program: the modules that the go command recorded in it, with their checksums from
// go.sum, and the standard library.
func billOf(info *debug.BuildInfo, goos, goarch string, at time.Time) ([]byte, error) {
	of := func(kind, path, version string, properties ...property) component {
		url := "pkg:golang/" + path + "@" + version
		return component{kind, url, path, version, url, properties}
	}
	program := of("application", info.Main.Path, info.Main.Version, property{"goos", goos}, property{"goarch", goarch})
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" || s.Key == "CGO_ENABLED" {
			program.Properties = append(program.Properties, property{s.Key, s.Value})
		}
	}
	b := bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{at, program}}
	b.Components = append(b.Components, of("library", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, of("library", m.Path, m.Version, property{"go.sum", m.Sum}))
	}
	text, err := json.MarshalIndent(&b, "", "  ")
	return append(text, '\n'), err
}
