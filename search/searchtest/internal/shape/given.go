package shape

import (
	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// ShowsGiven reports whether a snapshot has the i-th member of an object: the request had it,
// the version has it, and it is not a secret.
func ShowsGiven(o *Object, i int, version apiversion.Version) bool {
	m := &o.Shape.Members[i]
	return o.Given[i] && version.Has(m.Needs) && !m.Secret && (o.Shape.Writes == nil || o.Shape.Writes(o, m.Name))
}

// AppendGiven appends an object with only the members that the request had.
func AppendGiven(dst []byte, o *Object, version apiversion.Version) []byte {
	dst = append(dst, '{')
	first := true
	for i := range o.Shape.Members {
		if !ShowsGiven(o, i, version) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, o.Shape.Members[i].Name)
		dst = append(dst, ':')
		dst = AppendGivenValue(dst, &o.Shape.Members[i], o.Values[i], version)
	}
	if o.Others != nil {
		dst = AppendOpenMembers(dst, o.Others, OmitSecrets, first)
	}
	return append(dst, '}')
}

// AppendGivenValue appends a value of member m.
func AppendGivenValue(dst []byte, m *Property, value any, version apiversion.Version) []byte {
	if m.Kind == KindAny {
		return AppendOpen(dst, value, OmitSecrets)
	}
	switch v := value.(type) {
	case *Object:
		return AppendGiven(dst, v, version)
	case *Pairs:
		if m.Kind == KindHeaders {
			return appendEmptied(dst, v.Names)
		}
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendGivenValue(dst, m, e, version)
		}
		return append(dst, ']')
	}
	return AppendValue(dst, m.Kind, value, version)
}
