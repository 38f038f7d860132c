package wholeindex

import (
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Trims reports whether permission filters, or the sensitivity labels of previews, hide documents of an index from
// queries. Fields with permissions but without the option count too, because the service does not document their
// effect.
func Trims(index *models.SearchIndex) bool {
	if string(index.AdditionalProperties["purviewEnabled"]) == "true" {
		return true
	}
	switch index.PermissionFilterOption {
	case models.PermissionFilterEnabled:
		return true
	case models.PermissionFilterDisabled:
		return false
	}
	return filtered(index.Fields)
}

// filtered reports whether a field or a sub-field holds permissions.
func filtered(fields []models.SearchField) bool {
	return slices.ContainsFunc(fields, func(f models.SearchField) bool { return f.PermissionFilter != "" || filtered(f.Fields) })
}
