package allocations

// suite is a package with its benchmarks.
type suite struct {
	folder     string // relative to the root of the module
	benchmarks []benchmark
}

// benchmark is a benchmark with its sub-benchmarks.
type benchmark struct {
	name string
	// iterations is high enough that one-time allocations, such as a growing buffer, do not count, and low enough
	// that all runs end within about a minute.
	iterations int
}

// runs is the number of runs of each benchmark, the minimum for benchstat's confidence interval.
const runs = 6

// plan lists a benchmark for each stage of a document in the SDK.
var plan = []suite{
	{"models", []benchmark{
		{"BenchmarkAppendAction", 5000}, // encode
		{"BenchmarkKeyFieldGet", 5000},
	}},
	{"models/keys", []benchmark{
		{"BenchmarkValidate", 5000},
	}},
	{"internal/publisher", []benchmark{
		{"BenchmarkAdd", 20_000},     // admission
		{"BenchmarkPending", 20_000}, // batch fill
		{"BenchmarkSettle", 200},
		{"BenchmarkPublisher", 20_000},
	}},
	{"bufferedsender/internal/fold", []benchmark{
		{"BenchmarkActions", 500},
	}},
	{"search", []benchmark{
		{"BenchmarkDecodeResults", 100}, // response scan
		{"BenchmarkIndexDocumentsRaw", 100},
		{"BenchmarkUploadDocuments", 50},
	}},
	{"bufferedsender", []benchmark{
		{"BenchmarkBody", 500},
		{"BenchmarkCallbacks", 50},
	}},
}
