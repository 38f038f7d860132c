package archtest

// Module is the path of the module whose packages are checked.
const Module = "github.com/go-azsearch/azsearch"

// Rule says what the packages of one folder may import outside their tests.
// The standard library is always allowed, except for what Not lists.
type Rule struct {
	// Folder is where the rule holds, relative to the module; "/..." at the end
	// takes in everything below. The most specific rule of a package counts.
	Folder string
	// May lists import paths: "./x" is a folder of this module, "/..." at the
	// end takes in everything below.
	May []string
	// Not lists import paths that May, or the standard library, would allow.
	Not []string
	// Never lists import paths that may not even be reached through others.
	Never []string
}

const (
	azcore   = "github.com/Azure/azure-sdk-for-go/sdk/azcore/..."
	azure    = "github.com/Azure/..."
	stemmers = "github.com/blevesearch/..." // snowballstem, go-porterstemmer; segment in a test
	bleve    = "github.com/blevesearch/bleve/..."
	bbolt    = "go.etcd.io/bbolt/..."
	backoff  = "github.com/cenkalti/backoff/v4"
	breaker  = "github.com/sony/gobreaker/..."
	goleak   = "go.uber.org/goleak"
	testify  = "github.com/stretchr/testify/..."
	rapid    = "pgregory.net/rapid"
	cli      = "github.com/urfave/cli/v3"
	uuid     = "github.com/google/uuid"
	history  = "github.com/anishathalye/porcupine"
	humanize = "github.com/dustin/go-humanize"
	azid     = "github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	http     = "net/http"
	sql      = "database/sql/..."
	goredis  = "github.com/redis/go-redis/v9"
	pgx      = "github.com/jackc/pgx/v5/..."
	modernc  = "modernc.org/sqlite/..."
	isatty   = "github.com/mattn/go-isatty"
	compress = "github.com/klauspost/compress/..."
	parquet  = "github.com/parquet-go/parquet-go/..."
	gojq     = "github.com/itchyny/gojq"
)

// otelAPI is what a library may import of OpenTelemetry: not the SDK, which is
// the choice of the program.
var otelAPI = []string{
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/attribute",
	"go.opentelemetry.io/otel/codes",
	"go.opentelemetry.io/otel/metric/...",
	"go.opentelemetry.io/otel/propagation",
	"go.opentelemetry.io/otel/semconv/...",
	"go.opentelemetry.io/otel/trace/...",
}

// public is what a program that uses the SDK can import of this module.
var public = []string{"./models/...", "./retry/...", "./events/...", "./search", "./search/rebuild", "./search/rebuild/redisstore", "./search/searchtest", "./bufferedsender/..."}

// Rules is who may import whom. A package without a rule is refused, so that a
// new folder begins with a decision about its place.
var Rules = []Rule{
	{Folder: "models/...", May: []string{"./models/...", "./internal/wire"}, Not: []string{http, sql}},
	{Folder: "events", May: []string{"./models/..."}, Not: []string{http, sql}},
	{Folder: "retry", May: []string{backoff}, Never: []string{azure}},
	{Folder: "retry/breaker", May: []string{"./retry", breaker}, Never: []string{azure}},

	{Folder: "search", May: append([]string{"./models/...", "./retry", "./internal/wire", "./internal/apiversion", "./internal/nilcheck", "./internal/refusal", "./internal/sleep", "./internal/wholeindex", azcore}, otelAPI...), Never: []string{stemmers}},
	// It feeds a sender through an interface of its own, as whoever feeds one does. Its writers are
	// in many processes, so their marks are in a database, by any driver.
	{
		Folder: "search/rebuild",
		May:    []string{"./internal/bound", "./internal/nilcheck", "./search", "./models/...", "./retry", "./bufferedsender/queue", "./internal/sleep", "./internal/sqlkit", "./internal/wholeindex", azcore},
		Not:    []string{http},
	},
	// A store that brings a client: apart, so that whoever keeps marks in a database builds none of Redis.
	{Folder: "search/rebuild/redisstore", May: []string{"./search/rebuild", "./internal/rediskit", goredis}, Not: []string{http, sql}},
	// What each store has to keep, for the tests of those here and of those that bring a client.
	{Folder: "search/rebuild/internal/storetest", May: []string{"./search/rebuild", testify}},
	{Folder: "search/searchtest", May: []string{"./models/...", "./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/..."}, Never: []string{azure}},
	// Where the emulator and the client meet, for tests: in the emulator the client could
	// not be judged by something that does not depend on it, and whoever uses another
	// client would build azcore. Nothing that is built into a program needs it.
	{Folder: "search/searchtest/clienttest", May: []string{"./models/...", "./search", "./search/searchtest", azcore}},
	{Folder: "search/searchtest/internal/batch", May: []string{"./models/...", "./internal/apiversion", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/schema", May: []string{"./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/shape", May: []string{"./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/reply"}, Never: []string{azure, stemmers}},
	{Folder: "search/searchtest/internal/...", May: []string{"./models/...", "./search/searchtest/internal/..."}, Never: []string{azure, stemmers}},
	// It reaches the stemmers through its subpackage, which is all that imports them.
	{Folder: "search/searchtest/internal/textindex", May: []string{"./search/searchtest/internal/..."}, Never: []string{azure}},
	// Not bleve itself: with it whoever tests with the emulator would have a dozen modules
	// more in go.mod.
	{
		Folder: "search/searchtest/internal/textindex/analysis",
		May:    []string{stemmers, "./search/searchtest/internal/textindex/languages"}, Not: []string{bleve}, Never: []string{azure, bbolt},
	},
	{Folder: "search/searchtest/internal/textindex/languages"},

	{
		Folder: "bufferedsender",
		May: append([]string{
			"./models/...", "./retry/...", "./events", "./internal/publisher", "./internal/relay", "./internal/nilcheck", "./internal/sleep",
			"./bufferedsender/internal/fold", "./bufferedsender/internal/harmless",
			"./bufferedsender/tuning", "./bufferedsender/deadletter", "./bufferedsender/queue", "./bufferedsender/pool", uuid,
		}, otelAPI...),
		Not:   []string{sql},
		Never: []string{"./search/...", azure, stemmers},
	},
	{
		Folder: "internal/publisher",
		Never:  []string{http, "encoding/json", sql, "./models/..."},
	},
	{Folder: "bufferedsender/internal/fold", May: []string{"./models/...", "./internal/wire"}, Never: []string{http}},
	// What may be said of an error where documents must not be: in logs, and on a page.
	{Folder: "bufferedsender/internal/harmless", May: []string{"./models"}, Not: []string{sql}},
	{Folder: "bufferedsender/tuning", Never: []string{http, sql}},
	// The classes, and the standard library: senders and repair share it, and so may whatever else talks to a service.
	{Folder: "bufferedsender/pool", May: []string{"./models"}, Never: []string{http, sql}},
	// What keeps files, for those that do; the disk that crashes is for their tests.
	{Folder: "internal/disk", Never: []string{http, sql}},
	{Folder: "internal/disk/disktest", May: []string{"./internal/disk"}, Never: []string{http, sql}},
	// Between the owner of a file queue and a command, which knows the back end.
	{Folder: "internal/queuecontrol", May: []string{"./bufferedsender/queue"}, Not: []string{http, sql}},
	// Frames, replacement and the writer, for what keeps a copy of its memory on a disk.
	{Folder: "internal/journal", May: []string{"./internal/disk"}, Never: []string{http, sql}},
	{Folder: "bufferedsender/deadletter", May: []string{"./internal/nilcheck", "./models/...", "./internal/disk"}, Not: []string{http, sql}},
	// Keys only, no documents: who gives up and who repairs share it, and neither needs the other.
	{Folder: "bufferedsender/hints", May: []string{"./internal/disk", "./internal/journal"}, Not: []string{http, sql}},
	// What an index, a source and a sender are it says itself, so any client and any driver will do.
	{Folder: "bufferedsender/repair/...", May: append([]string{"./models/...", "./bufferedsender/pool", "./bufferedsender/hints", "./internal/bound", "./internal/disk", "./internal/nilcheck", "./internal/sleep", "./internal/wholeindex", "./bufferedsender/repair/digesttree", "./internal/sqlkit"}, otelAPI...), Not: []string{http}},
	// What a sender has confirmed, told by its events.
	{Folder: "bufferedsender/repair/digesttree", May: []string{"./models/...", "./events", "./internal/disk", "./internal/journal"}, Not: []string{http, sql}},
	// Senders over one pool. What a service is it says itself, so any client will do.
	{
		Folder: "bufferedsender/fleet",
		May: append([]string{"./internal/nilcheck",
			"./models/...", "./retry/...", "./events", "./bufferedsender", "./bufferedsender/pool", "./bufferedsender/hints", "./bufferedsender/tuning",
		}, otelAPI...),
		Not:   []string{sql},
		Never: []string{"./search/...", azure, stemmers},
	},
	// It looks at everything that a process can send with, and nothing imports it.
	{
		Folder: "bufferedsender/dashboard",
		May: []string{"./models", "./retry/...", "./events", "./bufferedsender", "./bufferedsender/fleet", "./bufferedsender/outbox", "./bufferedsender/queue",
			"./bufferedsender/internal/harmless", "./internal/nilcheck", "./internal/webpage"},
		Not:   []string{sql},
		Never: []string{"./search/...", azure, stemmers},
	},
	{Folder: "bufferedsender/queue", May: []string{"./models"}, Not: []string{http, sql}},
	{Folder: "bufferedsender/queue/redisqueue", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/bounds", "./internal/rediskit", goredis}, Not: []string{http, sql}},
	// The standard library and the contract only, so that back ends of others can use it.
	{Folder: "bufferedsender/queue/queuetest", May: []string{"./models", "./bufferedsender/queue"}, Not: []string{http, sql}},
	{Folder: "bufferedsender/queue/internal/...", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/bounds"}, Not: []string{http, sql}},
	{
		Folder: "bufferedsender/queue/filequeue",
		May:    []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/...", "./internal/disk", "./internal/queuecontrol"},
		Not:    []string{http, sql},
	},
	{Folder: "bufferedsender/queue/memqueue", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/..."}, Not: []string{http, sql}},

	// Any driver will do: those of PostgreSQL and SQLite are for tests and samples.
	{
		Folder: "bufferedsender/outbox", May: append([]string{"./internal/nilcheck", "./models/...", "./bufferedsender/internal/fold", "./internal/relay", "./internal/sqlkit"}, otelAPI...),
		Not: []string{http},
	},
	{Folder: "bufferedsender/outbox/outboxpgx", May: []string{"./internal/nilcheck", "./models/...", "./bufferedsender/outbox", "./internal/relay", pgx}, Not: []string{http}},

	{Folder: "samples/...", May: append([]string{azcore, azid, humanize, "./samples/internal/..."}, public...)},
	// A program, so it chooses an SDK.
	{Folder: "samples/observability", May: append(append([]string{azcore, "./samples/internal/...", "go.opentelemetry.io/otel/sdk/metric/..."}, otelAPI...), public...)},
	{Folder: "samples/outbox", May: append([]string{azcore, pgx, modernc, "./samples/internal/..."}, public...)},
	{Folder: "samples/repair", May: append([]string{azcore, modernc, "./samples/internal/..."}, public...)},
	{Folder: "samples/rebuild", May: append([]string{azcore, modernc, "./samples/internal/..."}, public...)},
	{Folder: "samples/projection", May: append([]string{azcore, modernc, "./samples/internal/..."}, public...)},
	{Folder: "cmd/azsearch", May: append([]string{cli, humanize, "./cmd/azsearch/internal/...", "./internal/disk", "./internal/queuecontrol", "./internal/sleep", "./internal/wire"}, public...)},
	{Folder: "cmd/azsearch/internal/...", May: []string{"./search/searchtest", "./models/...", "./internal/apiversion", "./internal/webpage", "./internal/wire"}},
	// What all commands have in common: exit codes, terminals, and the one way to a service.
	{Folder: "cmd/azsearch/internal/exit", Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/terminal", May: []string{isatty}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/connect", May: []string{cli, azcore, azid, "./search", "./search/searchtest", "./cmd/azsearch/internal/exit"}, Not: []string{sql}},
	// The drivers of databases, for every command that opens one.
	{Folder: "cmd/azsearch/internal/database", May: []string{pgx, modernc, "./bufferedsender/outbox"}, Not: []string{http}},
	{Folder: "cmd/azsearch/internal/doctor", May: []string{azcore, "./search", "./models", "./bufferedsender/queue", "./bufferedsender/outbox", "./cmd/azsearch/internal/keyrange", "./internal/sleep", humanize}, Not: []string{sql}},
	{Folder: "cmd/azsearch/internal/trial", May: []string{"./models", "./bufferedsender"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/sorted", Not: []string{http, sql}},
	// Readers of files, each of one format; jq and the compressions stay where they are used.
	{Folder: "cmd/azsearch/internal/source", May: []string{"./cmd/azsearch/internal/source/...", compress}, Not: []string{http, sql}}, // compress for its tests
	{Folder: "cmd/azsearch/internal/source/jsontext", May: []string{"./internal/wire"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/csvtext", Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/compressed", May: []string{compress}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/parquetrows", May: []string{parquet, uuid, "./cmd/azsearch/internal/source/jsontext"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/jqfilter", May: []string{gojq}, Not: []string{http, sql}},
	// Records and the definition of an index; what sends them is load.
	{Folder: "cmd/azsearch/internal/convert", May: []string{"./models/...", "./internal/wire", "./cmd/azsearch/internal/source/csvtext", "./cmd/azsearch/internal/source/jsontext"}, Not: []string{sql}},
	{Folder: "cmd/azsearch/internal/load", May: []string{"./models/...", "./events", "./bufferedsender", "./bufferedsender/queue", "./internal/disk", "./cmd/azsearch/internal/...", humanize}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/infer", May: []string{"./models/...", "./cmd/azsearch/internal/source/...", "./cmd/azsearch/internal/convert"}, Not: []string{http, sql}},
	// Definitions as files, for every command that keeps some.
	{Folder: "cmd/azsearch/internal/definitions", May: []string{"./search", "./models", "./cmd/azsearch/internal/connect", "./internal/apiversion", "./internal/disk", "./internal/wire"}, Not: []string{sql}},
	// Documents in bulk: how they are read, compared, kept and brought back.
	{Folder: "cmd/azsearch/internal/digest", May: []string{"./models"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/keyrange", May: []string{"./search", "./models", "./internal/wholeindex"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/verify", May: []string{compress, "./models", "./cmd/azsearch/internal/digest", "./cmd/azsearch/internal/exit", "./cmd/azsearch/internal/keyrange", "./cmd/azsearch/internal/source/compressed", "./internal/sleep"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/ledger", May: []string{"./cmd/azsearch/internal/exit", "./internal/disk"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/sink", May: []string{"./models", "./bufferedsender", "./cmd/azsearch/internal/exit", humanize}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/backup", May: []string{"./search", "./models", "./cmd/azsearch/internal/...", "./internal/disk", "./internal/wire", humanize, compress}, Not: []string{http, sql}},
	// They serve any queue, so they know none of the back ends.
	{Folder: "cmd/azsearch/internal/drain", May: []string{"./bufferedsender/queue", "./internal/sleep"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/apply", May: []string{cli, "./search", "./models/...", "./cmd/azsearch/internal/..."}, Not: []string{http, sql}}, // cli for its tests
	{Folder: "cmd/azsearch/internal/table", May: []string{"./cmd/azsearch/internal/listing", "./internal/wire"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/listing", May: []string{"./bufferedsender/queue"}, Not: []string{http, sql}},
	// Bytes only, below everything: neither a type of this module, nor reflection on those
	// of others. The emulator reads JSON with a scanner of its own, so that a mistake here
	// is not also the judge of itself.
	{Folder: "internal/wire", Not: []string{http, sql, "reflect"}},
	// Ways to wait and to look, for whoever needs one.
	{Folder: "internal/bound", Not: []string{http, sql}},
	{Folder: "internal/sleep", Not: []string{http, sql}},
	{Folder: "internal/wholeindex", Not: []string{http, sql}},
	// What the pages of the emulator and of a sender have in common, no script of which is from elsewhere.
	{Folder: "internal/webpage", Not: []string{sql}},
	{Folder: "internal/nilcheck", Not: []string{http, sql}},
	// Below the packages whose users hand over a client of Redis; it knows neither of them.
	{Folder: "internal/rediskit", May: []string{"./internal/nilcheck", goredis}, Not: []string{http, sql}},
	// Data below everything: the client and its emulator share no other code but the next, so a row
	// of it is compared with the specifications, not with either of them.
	{Folder: "internal/apiversion", Not: []string{http, sql}},
	// What the service refuses: the client says it beforehand, and the recordings judge the emulator.
	{Folder: "internal/refusal", Not: []string{http, sql}},
	// What the specifications say, for tests; compact makes it of files that are not here.
	{Folder: "internal/spec", Never: []string{http, sql}},
	{Folder: "internal/spec/compact", Never: []string{http, sql}},
	{Folder: "internal/spec/report", Never: []string{http, sql}},
	// The rules of those who send leased records, for a queue and for an outbox: neither a back end nor a sender.
	{Folder: "internal/relay", Not: []string{http, sql}},
	// What the stores in databases have in common: any driver will do, so it knows none.
	{Folder: "internal/sqlkit", Not: []string{http}},
	// The black-box tests of the sender, by subject: no package but its tests.
	{Folder: "bufferedsender/test/..."},

	{Folder: "internal/testkit", May: []string{goleak}},
	// Starts programs and asks them whether they are there, with no client of theirs: whoever
	// tests with a server brings the client that is under test.
	{Folder: "internal/testkit/servers", May: []string{"./internal/testkit"}, Not: []string{sql}},
	// The harness of the tests of the sender and of what is built on it. It is no test
	// itself, so that tests of several packages and a program that runs for an hour can
	// use it; nothing that is built for users may.
	{Folder: "internal/sendertest", May: append(append([]string{
		"./internal/testkit", testify, rapid, azcore, "go.opentelemetry.io/otel/sdk/metric/...",
	}, otelAPI...), public...)},
	// Beside sendertest, which the tests of the fleet's own package use, and which must not know it therefore.
	{Folder: "internal/fleetmodel", May: append([]string{"./internal/sendertest"}, public...)},
	// Beside queuetest, which users may import, for the one search that it needs.
	{Folder: "internal/queuehistory", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/queuetest", "./internal/queuelab", history}},
	// The model of a queue, and random schedules beside it: users' back ends pass the suite.
	{Folder: "internal/queuelab", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/queuetest"}},
	// Beside it for the same reason: users' tests need not kill processes.
	{Folder: "internal/queuekill", May: []string{"./models", "./bufferedsender/queue"}},
	// Next to it as well: it kills processes, mounts a disk, and is about one back end.
	{Folder: "internal/queuefiles", May: []string{"./models", "./bufferedsender/queue", "./internal/queuelab", "./bufferedsender/queue/filequeue"}},
	// A program that is made of tests: each soak may use the harness of what it tries.
	{Folder: "internal/soak", May: []string{"./internal/sendertest", "./internal/fleetmodel", "./internal/queuekill", "./internal/queuefiles"}},
	// A program for whoever has a service: the client, and what hides secrets in a recording.
	{Folder: "internal/live", May: []string{"./search", "./models/...", "./internal/wire", azcore}},
	{Folder: "internal/archtest"},
	{Folder: "internal/mutate"},
	{Folder: "internal/commits"},
	{Folder: "internal/othersystems"},
	{Folder: "internal/reached"},
	{Folder: "internal/release"},
	{Folder: "internal/overview"},
	{Folder: "internal/interop"},
}

// TestsMay is what a _test.go file may import beside what its package may, and
// any package of this module but the programs.
var TestsMay = []string{
	"./internal/spec",
	"./models/...", "./retry/...", "./events", "./search/...", "./bufferedsender/...", "./internal/testkit/...", "./internal/disk/disktest", "./internal/sqlkit", "./internal/sendertest", "./internal/fleetmodel", "./internal/queuehistory", "./internal/queuelab", "./internal/queuekill", "./internal/queuefiles",
	testify,
	"github.com/jarcoal/httpmock",
	rapid,
	goleak,
	"go.opentelemetry.io/otel/...",
	azcore, azid, // credentials of the examples
	pgx, modernc, // the drivers that the outbox is tried with
	uuid,
	"go.yaml.in/yaml/v3", // the recorded exchanges; testify brings the same one
}

// homes are the heavy dependencies that these folders alone may import, tests of
// other folders included: whoever needs one elsewhere wants one of them.
var homes = map[string][]string{
	stemmers: {"search/searchtest/internal/textindex/analysis"},
	// The kit, and the packages to which users hand a client. A program that only sends builds none, and a third
	// package that needs a server takes what it needs from the kit.
	goredis: {"internal/rediskit", "bufferedsender/queue/redisqueue", "search/rebuild/redisstore"},
}

// noLeakCheck are the folders whose packages may start goroutines without a
// TestMain that looks for leaks: programs, whose goroutines end with them.
var noLeakCheck = []string{"samples/..."}
