package allocations

// suite is a package and what is measured in it.
type suite struct {
	folder     string // below the root of the module
	benchmarks []benchmark
}

// benchmark is a benchmark with all that is below it.
type benchmark struct {
	name string
	// iterations is so many that what is allocated once, such as a buffer that
	// grows, does not count, and so few that all runs end within a minute or so.
	iterations int
}

// runs is how often each benchmark runs. With fewer benchstat has no confidence.
const runs = 6

// plan is the way of a document through the SDK.
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
