package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// formats are the formats of the packages that use journals, with text payloads instead of their records.
var formats = map[string]Format{
	"hints":       {Magic: "azhints\x01", MaxPayload: 1<<20 + 2064, WellFormed: letters},
	"digest tree": {Magic: "aztlog\x00\x01", MaxPayload: 256<<10 + 1035, WellFormed: letters},
}

func letters(payload []byte) bool { return bytes.Trim(payload, "abcdefghijklmnopqrstuvwxyz") == nil }

func eachFormat(t *testing.T, do func(t *testing.T, f Format)) {
	for name, f := range formats {
		t.Run(name, func(t *testing.T) { do(t, f) })
	}
}

func frameOf(payload string) []byte { return append(make([]byte, HeaderSize), payload...) }

// written returns a file with a frame for each payload, and the end of each frame.
func written(f Format, payloads ...string) (whole string, ends []int) {
	b := []byte(f.Magic)
	for i, p := range payloads {
		frame := frameOf(p)
		Seal(frame, uint32(i+1))
		b = append(b, frame...)
		ends = append(ends, len(b))
	}
	return string(b), ends
}

// read returns the payloads of a file, and its damage.
func read(t testing.TB, f Format, folder disk.Folder, name string) (payloads []string, damage *Damage) {
	t.Helper()
	err := f.Read(folder, name, func(frame []byte, number uint32) error {
		payloads = append(payloads, string(frame[HeaderSize:]))
		require.Equal(t, len(payloads), int(number))
		return nil
	})
	if err != nil {
		require.ErrorAs(t, err, &damage)
	}
	return payloads, damage
}

func readText(t testing.TB, f Format, content string) ([]string, *Damage) {
	t.Helper()
	d := disktest.New()
	d.Put("file", content)
	return read(t, f, d, "file")
}

func TestAFileCutAtAnyByteHasItsWholeFrames(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		all := []string{"a", "bcd", "efghij"}
		whole, ends := written(f, all...)
		for cut := range len(whole) + 1 {
			got, damage := readText(t, f, whole[:cut])
			n := 0
			for n < len(ends) && ends[n] <= cut {
				n++
			}
			require.True(t, slices.Equal(all[:n], got), "cut at %d: %q", cut, got)
			require.Equal(t, cut < len(f.Magic), damage != nil, "cut at %d", cut)
		}
	})
}

func TestAChangedByteIsDamageUnlessItIsInTheLastFrame(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		whole, ends := written(f, "a", "bcd", "efghij")
		for at := range len(whole) {
			got, damage := readText(t, f, whole[:at]+string(whole[at]^0x55)+whole[at+1:])
			if at >= ends[1] {
				require.Equal(t, []string{"a", "bcd"}, got, "byte %d", at)
				require.Nil(t, damage, "byte %d looks torn", at)
				continue
			}
			require.NotNil(t, damage, "byte %d", at)
			require.LessOrEqual(t, damage.Offset, int64(at))
			if version := len(f.Magic) - 1; at == version {
				require.NotErrorIs(t, damage.Reason, ErrFormat)
				require.EqualError(t, damage.Reason, "corrupt version: got 84, want 1, and the frames are of this version")
			}
		}
	})
}

func TestFramesOfAnotherVersionAreNotDamage(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		_, ends := written(f, "a")
		version := len(f.Magic) - 1
		for _, frames := range []string{"", strings.Repeat("\x02", ends[0])} {
			_, damage := readText(t, f, f.Magic[:version]+"\x02"+frames)
			require.ErrorIs(t, damage.Reason, ErrFormat)
			require.ErrorContains(t, damage.Reason, "got version 2, want 1; open the folder with the program that wrote it")
		}
	})
}

func TestAMissingFrameIsDamageWhereItWas(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		whole, ends := written(f, "a", "b", "c")
		got, damage := readText(t, f, whole[:ends[0]]+whole[ends[1]:])
		require.Equal(t, []string{"a"}, got)
		require.Equal(t, &Damage{int64(ends[0]), errMiddle}, damage)
	})
}

func TestZerosAreATornFrameAsLongAsAFrameCanBe(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		whole, _ := written(f, "a")
		most := HeaderSize + f.MaxPayload
		_, damage := readText(t, f, whole+strings.Repeat("\x00", most))
		require.Nil(t, damage)
		_, damage = readText(t, f, whole+strings.Repeat("\x00", most+1))
		require.Equal(t, &Damage{int64(len(whole)), errLong}, damage)
	})
}

// Bytes of zeros and ones look like frame headers everywhere.
func TestASearchThatTakesTooLongIsDamage(t *testing.T) {
	f := formats["hints"]
	whole, _ := written(f, "a")
	_, damage := readText(t, f, whole+strings.Repeat("\x00\x00\x0f\x00", f.MaxPayload/8))
	require.Equal(t, &Damage{int64(len(whole)), errSearch}, damage)
}

func TestAReadThatFailsIsAnErrorAndNotATornEnd(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		whole, _ := written(f, "a", strings.Repeat("b", f.MaxPayload), strings.Repeat("c", f.MaxPayload), "d")
		d := disktest.New()
		d.Put("file", whole[:len(whole)-1])
		disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
			n := 0
			err := f.Read(d, "file", func([]byte, uint32) error {
				n++
				return nil
			})
			if err == nil {
				require.Equal(t, 3, n)
			}
			require.NotErrorAs(t, err, new(*Damage))
			return err
		})
	})
}

// script creates a file, appends to it, replaces it and appends again. acknowledged are the payloads that were synced
// when the disk failed, underWay those being written.
func script(f Format, d *disktest.Disk) (acknowledged, underWay []string, finished bool) {
	var file File
	underWay = []string{"a"}
	if file.Create(d, "file", f, frameOf("a")) != nil {
		return nil, underWay, false
	}
	acknowledged = []string{"a"}
	grow := func(p string) bool {
		underWay = append(slices.Clone(acknowledged), p)
		if file.Append(frameOf(p)) != nil {
			return false
		}
		acknowledged = underWay
		return true
	}
	if !grow("b") || !grow("cde") {
		return acknowledged, underWay, false
	}
	underWay = []string{"xyz", "b"}
	if file.Replace(d, "tmp", "file", f, func(put func([]byte)) {
		for _, payload := range underWay {
			put(frameOf(payload))
		}
	}) != nil {
		return acknowledged, underWay, false
	}
	acknowledged = underWay
	return acknowledged, underWay, grow("f") && grow("g") && file.Close() == nil
}

func TestACrashAnywhereLeavesWhatWasDurableOrUnderWay(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		for at, finished := 0, false; !finished; at++ {
			for part := range uint64(30) {
				d := disktest.New()
				changes := 0
				d.Fail = func(string, string) error {
					if changes++; changes > at {
						return disktest.ErrDisk
					}
					return nil
				}
				var acknowledged, underWay []string
				acknowledged, underWay, finished = script(f, d)
				random := rand.New(rand.NewPCG(part, uint64(at)))
				d.Crash(func(_ string, n int) int {
					if part < 2 {
						return int(part) * (n - 1)
					}
					return random.IntN(n)
				})
				name := fmt.Sprintf("crash at change %d, part %d", at, part)
				if _, there := d.Files()["file"]; !there {
					require.Empty(t, acknowledged, name)
					continue
				}
				got, damage := read(t, f, d, "file")
				if len(acknowledged) > 0 {
					require.Nil(t, damage, name)
				}
				require.True(t, slices.Equal(got, acknowledged) || slices.Equal(got, underWay), "%s: the content is %q, want %q or %q", name, got, acknowledged, underWay)
			}
			require.Less(t, at, 100, "the script never ends")
		}
	})
}

func TestAFileWithAnErrorIsGivenUp(t *testing.T) {
	f := formats["hints"]
	for _, failing := range []string{"write", "sync"} {
		d := disktest.New()
		var file File
		require.NoError(t, file.Create(d, "file", f, frameOf("a")))
		d.Fail = func(op, _ string) error {
			if op == failing {
				return disktest.ErrDisk
			}
			return nil
		}
		require.ErrorIs(t, file.Append(frameOf("b")), disktest.ErrDisk)
		require.False(t, file.IsOpen())
		require.Equal(t, uint32(1), file.Number(), "the last durable segment")
	}
}

func TestAReplacementThatFailsLeavesTheOldFileAndNoOther(t *testing.T) {
	for _, failing := range []string{"create", "write", "sync", "rename"} {
		d := disktest.New()
		d.Put("file", "old")
		d.Put("tmp", "of a crash")
		d.Fail = func(op, _ string) error {
			if op == failing {
				return disktest.ErrDisk
			}
			return nil
		}
		var file File
		require.ErrorIs(t, file.Replace(d, "tmp", "file", formats["hints"], func(put func([]byte)) {
			put(frameOf("new"))
		}), disktest.ErrDisk)
		require.Equal(t, map[string]string{"file": "old"}, d.Files(), failing)
	}
}

// FuzzReader reads any bytes. Writing the payloads that were read gives the same file content.
func FuzzReader(f *testing.F) {
	format := formats["digest tree"]
	whole, ends := written(format, "a", "bcd", "e")
	f.Add([]byte(whole))
	f.Add([]byte(whole[:ends[1]-1]))
	f.Add([]byte(whole[:ends[0]] + whole[ends[1]:]))
	f.Add([]byte(format.Magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		payloads, damage := readText(t, format, string(content))
		again, _ := written(format, payloads...)
		if damage == nil || len(payloads) > 0 {
			require.True(t, strings.HasPrefix(string(content), again))
		}
	})
}
