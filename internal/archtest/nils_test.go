package archtest

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInterfacesOfUsersAreAskedForNilPointers(t *testing.T) {
	names, err := Exported(os.DirFS(root))
	require.NoError(t, err)
	u := used(t)
	taken := u.Taken(names)
	require.Greater(t, len(taken), 30)
	broken, err := CheckNils(os.DirFS(root), taken)
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

func TestAnInterfaceThatNobodyAsksIsFound(t *testing.T) {
	taken := func(name string) Taken { return Taken{Name{"a", "New"}, name, "a.New " + name} }
	broken, err := CheckNils(fstest.MapFS{
		"a/a.go": {Data: []byte("package a\nfunc f() { _ = nilcheck.IsNil(o.Asked); nilcheck.Refuse(nilcheck.Option{Value: named}); other.IsNil(not) }")},
		"b/b.go": {Data: []byte("package b\nfunc f() { _ = nilcheck.IsNil(not) }")},
	}, []Taken{taken("Asked"), taken("named"), taken("not")})
	require.NoError(t, err)
	assert.Equal(t, []string{"a.New not: got no nilcheck call for this interface, want one: it may hold a nil pointer"}, broken)
}
