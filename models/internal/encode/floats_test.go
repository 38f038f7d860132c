package encode_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// floatsOf holds a number in every position that a number can have.
type floatsOf struct {
	F64     float64
	F32     float32
	Named   plainFloat
	Quoted  float64  `json:",string"`
	Quoted2 *float32 `json:",string"`
	Empty   float64  `json:",omitempty"`
	Zero    float32  `json:",omitzero"`
	Any     any
	Any32   any
	List    []float64
	List32  []float32
	Two     [2]float32
	Keys    map[string]float32
}

func newFloatsOf(f float64) *floatsOf {
	f32 := float32(f)
	return &floatsOf{
		F64: f, F32: f32, Named: plainFloat(f), Quoted: f, Quoted2: &f32, Empty: f, Zero: f32, Any: f, Any32: f32,
		List: []float64{f, 1, f}, List32: []float32{f32, f32}, Two: [2]float32{f32, 0}, Keys: map[string]float32{"k": f32},
	}
}

func FuzzFloat64(f *testing.F) {
	for _, x := range hardFloats {
		f.Add(math.Float64bits(x))
	}
	f.Add(math.Float64bits(math.NaN()))
	f.Add(math.Float64bits(math.Inf(-1)))
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		checkWritten(t, x)
		checkWritten(t, newFloatsOf(x))
	})
}

func FuzzFloat32(f *testing.F) {
	for _, x := range hardFloats {
		f.Add(math.Float32bits(float32(x)))
	}
	f.Add(math.Float32bits(float32(math.NaN())))
	f.Fuzz(func(t *testing.T, bits uint32) {
		x := math.Float32frombits(bits)
		checkWritten(t, x)
		checkWritten(t, &struct{ F float32 }{x})
		checkWritten(t, newFloatsOf(float64(x)))
	})
}

// around returns x and its neighbours, with both signs.
func around(x float64) []float64 {
	up, down := math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1))
	return []float64{x, up, down, -x, -up, -down, math.Nextafter(up, math.Inf(1)), math.Nextafter(down, math.Inf(-1))}
}

func TestHardFloats(t *testing.T) {
	hard := append([]float64(nil), hardFloats...)
	each := testkit.Cases(5, 1, 1)
	for e := -1080; e <= 1025; e += each {
		hard = append(hard, around(math.Ldexp(1, e))...)
	}
	for e := -330; e <= 310; e += each {
		hard = append(hard, around(math.Pow10(e))...)
		hard = append(hard, around(5*math.Pow10(e))...)
	}
	for _, boundary := range []float64{1e-6, 1e-7, 1e20, 1e21, 1e22, math.MaxFloat32, math.SmallestNonzeroFloat32, 1 << 53, 1 << 63, 1 << 64} {
		hard = append(hard, around(boundary)...)
		f32 := float32(boundary)
		for range 5 { // float32 has another boundary
			f32 = math.Nextafter32(f32, float32(math.Inf(1)))
			hard = append(hard, float64(f32))
		}
		for range 10 {
			f32 = math.Nextafter32(f32, 0)
			hard = append(hard, float64(f32))
		}
	}
	for i := range testkit.Cases(400, 2000, 2000) {
		hard = append(hard, float64(int64(1)<<53-1000+int64(i)), float64(i), float64(i)/100, float64(i)/1000, -float64(i)*0.1)
	}
	for _, x := range hard {
		checkWritten(t, x)
		checkWritten(t, float32(x))
		checkWritten(t, newFloatsOf(x))
	}
}

func TestRandomFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range testkit.Cases(5000, 50_000, 50_000) {
		checkWritten(t, math.Float64frombits(r.Uint64()))
	}
	for range testkit.Cases(2000, 20_000, 20_000) {
		checkWritten(t, math.Round(r.Float64()*1e6)/math.Pow10(r.IntN(10)))
	}
}

func TestWhatIsNoNumberIsRefused(t *testing.T) {
	for _, x := range []float64{
		math.NaN(), math.Inf(1), math.Inf(-1),
		math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xffffffffffffffff), math.Float64frombits(0x7fffffffffffffff),
	} {
		for _, v := range []any{
			x, float32(x), &x, []float64{1, x}, []float32{float32(x)}, [1]float32{float32(x)}, map[string]float64{"a": x}, []any{1, x},
			struct{ F float64 }{x}, &struct{ F float32 }{float32(x)}, struct {
				F float64 `json:",string"`
			}{x}, struct {
				F float64 `json:",omitempty"`
			}{x}, plainFloat(x),
		} {
			require.Equal(t, refused, check(t, v), "%T", v)
		}
	}
	// Too large for a float32 only after conversion.
	large := math.MaxFloat64
	require.Equal(t, refused, check(t, float32(large)))
}
