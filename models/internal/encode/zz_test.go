package encode
import ("testing";"encoding/json";"math";"runtime";"sync";"strconv";"math/rand/v2")
func old(dst []byte,f float32) []byte {
	abs := math.Abs(float64(f))
	if abs != 0 && (float32(abs) < 1e-6 || float32(abs) >= 1e21) {
		return shorten(strconv.AppendFloat(dst, float64(f), 'e', -1, 32))
	}
	return strconv.AppendFloat(dst, float64(f), 'f', -1, 32)
}
func TestZZ(t *testing.T){ _=json.Marshal; var wg sync.WaitGroup; n:=runtime.GOMAXPROCS(0); var bad sync.Map
 step:=uint64(1000003); 
 for g:=0; g<n; g++ { wg.Go(func(){ s:=&state{}; a,b:=make([]byte,0,64),make([]byte,0,64); for i:=uint64(g); i< 0x7f800000; i+=uint64(n) { f:=math.Float32frombits(uint32(i)); a=appendFloat32(s,a[:0],f); b=old(b[:0],f); if string(a)!=string(b){ bad.Store(f,string(a)+" "+string(b)); return } } }) }
 wg.Wait(); bad.Range(func(k,v any)bool{t.Error(k,v);return true}) }
func BenchmarkF(b *testing.B){ s:=&state{}; buf:=make([]byte,0,100); fs:=make([]float32,1536); for i:=range fs{fs[i]=float32(rand.NormFloat64()*0.03)}
 b.Run("new",func(b *testing.B){for b.Loop(){for _,f:=range fs {buf=appendFloat32(s,buf[:0],f)}}})
 b.Run("old",func(b *testing.B){for b.Loop(){for _,f:=range fs {buf=old(buf[:0],f)}}})
}
