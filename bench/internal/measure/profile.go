package measure

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// Profiled runs do. Unless name is empty it writes the CPU profile to name.cpu.prof and the allocation profile to
// name.mem.prof.
func Profiled(name string, do func() error) error {
	if name == "" {
		return do()
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	cpu, err := os.Create(name + ".cpu.prof")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return errors.Join(err, cpu.Close())
	}
	err = do()
	pprof.StopCPUProfile()
	memory, err2 := os.Create(name + ".mem.prof")
	if err2 != nil {
		return errors.Join(err, err2, cpu.Close())
	}
	return errors.Join(err, cpu.Close(), pprof.Lookup("allocs").WriteTo(memory, 0), memory.Close())
}
