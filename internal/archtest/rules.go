package archtest

// Module is the path of the module.
const Module = "github.com/go-azsearch/azsearch"

// Rule lists what the packages in a folder may import outside tests. The standard library is always allowed, except
// for what Not and Never list.
type Rule struct {
	// Folder is relative to the module. "/..." at the end includes all folders below. The most specific rule applies.
	Folder string
	// May lists allowed import paths: "./x" is a folder of this module, "/..." at the end includes all below.
	May []string
	// Not lists import paths that are not allowed although May or the standard library includes them.
	Not []string
	// Never lists import paths that must not be reached, not even indirectly.
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

// otelAPI are the packages of OpenTelemetry that a library may import: the API, but not the SDK, which the program
// chooses.
var otelAPI = []string{
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/attribute",
	"go.opentelemetry.io/otel/codes",
	"go.opentelemetry.io/otel/metric/...",
	"go.opentelemetry.io/otel/propagation",
	"go.opentelemetry.io/otel/semconv/...",
	"go.opentelemetry.io/otel/trace/...",
}

// public are the packages of this module that users can import.
var public = []string{"./models/...", "./retry/...", "./events/...", "./search", "./search/rebuild", "./search/rebuild/redisstore", "./search/searchtest", "./bufferedsender/..."}

// Rules has the rule of each folder. A package without a rule is refused, so that a new folder requires a decision.
var Rules = []Rule{
	{Folder: "models/...", May: []string{"./models/...", "./internal/wire"}, Not: []string{http, sql}},
	{Folder: "events", May: []string{"./models/..."}, Not: []string{http, sql}},
	{Folder: "retry", May: []string{backoff}, Never: []string{azure}},
	{Folder: "retry/breaker", May: []string{"./retry", breaker}, Never: []string{azure}},

	{Folder: "search", May: append([]string{"./models/...", "./retry", "./internal/wire", "./internal/apiversion", "./internal/nilcheck", "./internal/refusal", "./internal/sleep", "./internal/wholeindex", azcore}, otelAPI...), Never: []string{stemmers}},
	// It feeds a sender through its own interface, like any caller. Its writers run in many processes, so their marks
	// are in a database, with any driver.
	{
		Folder: "search/rebuild",
		May:    []string{"./internal/bound", "./internal/nilcheck", "./search", "./models/...", "./retry", "./bufferedsender/queue", "./internal/sleep", "./internal/sqlkit", "./internal/wholeindex", azcore},
		Not:    []string{http},
	},
	// This store needs a client, so it is a separate package: programs with marks in a database do not build Redis.
	{Folder: "search/rebuild/redisstore", May: []string{"./search/rebuild", "./internal/rediskit", goredis}, Not: []string{http, sql}},
	// Conformance tests for stores, also for those in other packages.
	{Folder: "search/rebuild/internal/storetest", May: []string{"./search/rebuild", testify}},
	{Folder: "search/searchtest", May: []string{"./models/...", "./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/..."}, Never: []string{azure}},
	// Joins emulator and client for tests. In the emulator, this code would make it depend on the client that it tests,
	// and users of other clients would build azcore. No program imports it.
	{Folder: "search/searchtest/clienttest", May: []string{"./models/...", "./search", "./search/searchtest", azcore}},
	{Folder: "search/searchtest/internal/batch", May: []string{"./models/...", "./internal/apiversion", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/faults", May: []string{"./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/query", May: []string{"./internal/apiversion", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/routing", May: []string{"./internal/apiversion", "./search/searchtest/internal/reply"}, Never: []string{azure, stemmers}},
	{Folder: "search/searchtest/internal/schema", May: []string{"./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/shape", May: []string{"./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/reply"}, Never: []string{azure, stemmers}},
	{Folder: "search/searchtest/internal/resources", May: []string{"./internal/apiversion", "./internal/refusal", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/store", May: []string{"./models/...", "./internal/apiversion", "./search/searchtest/internal/..."}, Never: []string{azure}},
	{Folder: "search/searchtest/internal/...", May: []string{"./models/...", "./search/searchtest/internal/..."}, Never: []string{azure, stemmers}},
	// It uses the stemmers only through its subpackage analysis.
	{Folder: "search/searchtest/internal/textindex", May: []string{"./search/searchtest/internal/..."}, Never: []string{azure}},
	// Not bleve itself, which would add a dozen modules to the go.mod of everyone who tests with the emulator.
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
	// Parts of errors that are safe where documents must not appear: in logs and on a page.
	{Folder: "bufferedsender/internal/harmless", May: []string{"./models"}, Not: []string{sql}},
	{Folder: "bufferedsender/tuning", Never: []string{http, sql}},
	// Classes only: shared by senders, repair, and other clients of a service.
	{Folder: "bufferedsender/pool", May: []string{"./models"}, Never: []string{http, sql}},
	// For packages that keep files; disktest simulates crashes in their tests.
	{Folder: "internal/disk", Never: []string{http, sql}},
	{Folder: "internal/disk/disktest", May: []string{"./internal/disk"}, Never: []string{http, sql}},
	// Connects the owner of a file queue and the command, which knows the back end.
	{Folder: "internal/queuecontrol", May: []string{"./bufferedsender/queue"}, Not: []string{http, sql}},
	// Frames, replacement and the writer, for packages that keep a copy of their memory on disk.
	{Folder: "internal/journal", May: []string{"./internal/disk"}, Never: []string{http, sql}},
	{Folder: "bufferedsender/deadletter", May: []string{"./internal/nilcheck", "./models/...", "./internal/disk"}, Not: []string{http, sql}},
	// Keys only, no documents. The sender and repair share it without depending on each other.
	{Folder: "bufferedsender/hints", May: []string{"./internal/disk", "./internal/journal"}, Not: []string{http, sql}},
	// It defines its own interfaces for index, source and sender, so any client and any driver can be used.
	{Folder: "bufferedsender/repair/...", May: append([]string{"./models/...", "./bufferedsender/pool", "./bufferedsender/hints", "./internal/bound", "./internal/disk", "./internal/nilcheck", "./internal/sleep", "./internal/wholeindex", "./bufferedsender/repair/digesttree", "./internal/sqlkit"}, otelAPI...), Not: []string{http}},
	// Documents that a sender confirmed, from its events.
	{Folder: "bufferedsender/repair/digesttree", May: []string{"./models/...", "./events", "./internal/disk", "./internal/journal"}, Not: []string{http, sql}},
	// Senders over one pool. It defines its own interface of a service, so any client can be used.
	{
		Folder: "bufferedsender/fleet",
		May: append([]string{"./internal/nilcheck",
			"./models/...", "./retry/...", "./events", "./bufferedsender", "./bufferedsender/pool", "./bufferedsender/hints", "./bufferedsender/tuning",
		}, otelAPI...),
		Not:   []string{sql},
		Never: []string{"./search/...", azure, stemmers},
	},
	// It reads all parts of a process that send; no package imports it.
	{
		Folder: "bufferedsender/dashboard",
		May: []string{"./models", "./retry/...", "./events", "./bufferedsender", "./bufferedsender/fleet", "./bufferedsender/outbox", "./bufferedsender/queue",
			"./bufferedsender/internal/harmless", "./internal/nilcheck", "./internal/webpage"},
		Not:   []string{sql},
		Never: []string{"./search/...", azure, stemmers},
	},
	{Folder: "bufferedsender/queue", May: []string{"./models"}, Not: []string{http, sql}},
	{Folder: "bufferedsender/queue/redisqueue", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/bounds", "./internal/rediskit", goredis}, Not: []string{http, sql}},
	// Only the standard library and the contract, so that external back ends can use it.
	{Folder: "bufferedsender/queue/queuetest", May: []string{"./models", "./bufferedsender/queue"}, Not: []string{http, sql}},
	{Folder: "bufferedsender/queue/internal/...", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/bounds"}, Not: []string{http, sql}},
	{
		Folder: "bufferedsender/queue/filequeue",
		May:    []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/...", "./internal/disk", "./internal/queuecontrol"},
		Not:    []string{http, sql},
	},
	{Folder: "bufferedsender/queue/memqueue", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/internal/..."}, Not: []string{http, sql}},

	// Any driver can be used; those of PostgreSQL and SQLite are for tests and samples.
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
	{Folder: "cmd/azsearch", May: append([]string{cli, humanize, "./cmd/azsearch/internal/...", "./internal/disk", "./internal/queuecontrol", "./internal/sleep", "./internal/webpage", "./internal/wire"}, public...)},
	{Folder: "cmd/azsearch/internal/...", May: []string{"./cmd/azsearch/internal/amount", "./search/searchtest", "./models/...", "./internal/apiversion", "./internal/webpage", "./internal/wire"}},
	// Shared by all commands: exit codes, numbers in messages, advice on filters, terminals, and connecting to a service.
	{Folder: "cmd/azsearch/internal/exit", Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/amount", May: []string{humanize}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/filterhint", May: []string{"./models"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/terminal", May: []string{isatty}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/connect", May: []string{cli, azcore, azid, "./models", "./search", "./search/searchtest", "./bufferedsender/tuning", "./cmd/azsearch/internal/exit", "./internal/sleep"}, Not: []string{sql}},
	// The database drivers, for all commands that open a database.
	{Folder: "cmd/azsearch/internal/database", May: []string{pgx, modernc, "./bufferedsender/outbox"}, Not: []string{http}},
	{Folder: "cmd/azsearch/internal/doctor", May: []string{"./cmd/azsearch/internal/amount", azcore, "./search", "./models", "./bufferedsender/queue", "./bufferedsender/outbox", "./cmd/azsearch/internal/keyrange", "./internal/sleep", humanize}, Not: []string{sql}},
	{Folder: "cmd/azsearch/internal/trial", May: []string{"./models", "./bufferedsender"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/shell", Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/sorted", Not: []string{http, sql}},
	// Readers of one file format each. jq and compression are imported only where they are used.
	{Folder: "cmd/azsearch/internal/source", May: []string{"./cmd/azsearch/internal/source/...", compress}, Not: []string{http, sql}}, // compress for its tests
	{Folder: "cmd/azsearch/internal/source/jsontext", May: []string{"./internal/wire"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/csvtext", Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/compressed", May: []string{compress}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/source/parquetrows", May: []string{parquet, uuid, "./cmd/azsearch/internal/source/jsontext"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/jqfilter", May: []string{gojq, "./cmd/azsearch/internal/source/jsontext"}, Not: []string{http, sql}},
	// Records and index definitions; load does the sending.
	{Folder: "cmd/azsearch/internal/convert", May: []string{"./cmd/azsearch/internal/amount", "./cmd/azsearch/internal/shell", "./models/...", "./internal/wire", "./cmd/azsearch/internal/source/csvtext", "./cmd/azsearch/internal/source/jsontext"}, Not: []string{sql}},
	{Folder: "cmd/azsearch/internal/load", May: []string{"./models/...", "./events", "./bufferedsender", "./bufferedsender/queue", "./internal/disk", "./cmd/azsearch/internal/...", humanize}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/infer", May: []string{"./cmd/azsearch/internal/amount", "./cmd/azsearch/internal/shell", "./models/...", "./cmd/azsearch/internal/source/...", "./cmd/azsearch/internal/convert"}, Not: []string{http, sql}},
	// Definitions as files, for all commands that write some.
	{Folder: "cmd/azsearch/internal/definitions", May: []string{"./search", "./models", "./cmd/azsearch/internal/connect", "./internal/apiversion", "./internal/disk", "./internal/wire"}, Not: []string{sql}},
	// Bulk documents: reading, comparing, storing and restoring.
	{Folder: "cmd/azsearch/internal/digest", May: []string{"./models"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/keyrange", May: []string{azcore, "./cmd/azsearch/internal/connect", "./cmd/azsearch/internal/definitions", "./search", "./models", "./internal/wholeindex"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/verify", May: []string{"./cmd/azsearch/internal/amount", compress, "./models", "./cmd/azsearch/internal/digest", "./cmd/azsearch/internal/exit", "./cmd/azsearch/internal/keyrange", "./cmd/azsearch/internal/source", "./cmd/azsearch/internal/source/jsontext", "./internal/sleep"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/ledger", May: []string{"./cmd/azsearch/internal/exit", "./internal/disk"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/sink", May: []string{"./models", "./bufferedsender", "./bufferedsender/tuning", "./cmd/azsearch/internal/exit", "./cmd/azsearch/internal/amount"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/backup", May: []string{"./search", "./models", "./cmd/azsearch/internal/...", "./internal/disk", "./internal/wire", humanize, compress}, Not: []string{http, sql}},
	// For any queue, so without a back end.
	{Folder: "cmd/azsearch/internal/drain", May: []string{"./cmd/azsearch/internal/amount", "./bufferedsender/queue", "./internal/sleep"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/apply", May: []string{cli, "./search", "./models/...", "./cmd/azsearch/internal/...", "./internal/wire"}, Not: []string{http, sql}}, // cli for its tests
	{Folder: "cmd/azsearch/internal/table", May: []string{"./cmd/azsearch/internal/amount", "./cmd/azsearch/internal/listing", "./internal/wire"}, Not: []string{http, sql}},
	{Folder: "cmd/azsearch/internal/listing", May: []string{"./cmd/azsearch/internal/amount", "./bufferedsender/queue"}, Not: []string{http, sql}},
	// Bytes only, below all other packages: no types of this module, and no reflection on others. The emulator has
	// its own JSON scanner, so that an error here is not checked against itself.
	{Folder: "internal/wire", Not: []string{http, sql, "reflect"}},
	// Waiting and inspection, for all packages.
	{Folder: "internal/bound", Not: []string{http, sql}},
	{Folder: "internal/sleep", Not: []string{http, sql}},
	{Folder: "internal/wholeindex", May: []string{"./models"}, Not: []string{http, sql}},
	// Shared by the pages of the emulator and of a sender. Their scripts are embedded.
	{Folder: "internal/webpage", Not: []string{sql}},
	{Folder: "internal/nilcheck", Not: []string{http, sql}},
	// Below the packages that take a Redis client from users, and independent of them.
	{Folder: "internal/rediskit", May: []string{"./internal/nilcheck", goredis}, Not: []string{http, sql}},
	// Data below all other packages. Client and emulator share no other code except the next package. Its rows are
	// tested against the specifications, not against client or emulator.
	{Folder: "internal/apiversion", Not: []string{http, sql}},
	// Rules that the service enforces: the client checks them before sending; recordings check the emulator.
	{Folder: "internal/refusal", Not: []string{http, sql}},
	// Contents of the specifications, for tests. compact generates them from files that are not in this repository.
	// Its tests compare the names of secrets.
	{Folder: "internal/spec", May: []string{"./internal/wire"}, Never: []string{http, sql}},
	{Folder: "internal/spec/compact", Never: []string{http, sql}},
	{Folder: "internal/spec/report", Never: []string{http, sql}},
	// Rules for sending leased records, for queue and outbox, without a back end or a sender.
	{Folder: "internal/relay", Not: []string{http, sql}},
	// Shared by stores in databases, for any driver.
	{Folder: "internal/sqlkit", Not: []string{http}},
	// Black-box tests of the sender, by subject. The packages have only tests.
	{Folder: "bufferedsender/test/..."},

	{Folder: "internal/testkit", May: []string{goleak}},
	// Starts servers and waits until they respond, without their clients. A test brings the client under test.
	{Folder: "internal/testkit/servers", May: []string{"./internal/testkit"}, Not: []string{sql}},
	// The test harness of the sender and of packages built on it. It is not a test itself, so that tests of several
	// packages and soak programs can use it. Products must not import it.
	{Folder: "internal/sendertest", May: append(append([]string{
		"./internal/testkit", testify, rapid, azcore, "go.opentelemetry.io/otel/sdk/metric/...",
	}, otelAPI...), public...)},
	// Not in sendertest, because the tests of package fleet use sendertest, which therefore must not import fleet.
	{Folder: "internal/fleetmodel", May: append([]string{"./internal/sendertest"}, public...)},
	// Not in queuetest, which users may import, because only this search needs porcupine.
	{Folder: "internal/queuehistory", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/queuetest", "./internal/queuelab", history}},
	// The model of a queue and random schedules. Back ends of users only need to pass the suite in queuetest.
	{Folder: "internal/queuelab", May: []string{"./models", "./bufferedsender/queue", "./bufferedsender/queue/queuetest"}},
	// Not in queuetest, because tests of users need not kill processes.
	{Folder: "internal/queuekill", May: []string{"./models", "./bufferedsender/queue"}},
	// Not in queuetest, because it kills processes, mounts a disk, and tests one back end.
	{Folder: "internal/queuefiles", May: []string{"./models", "./bufferedsender/queue", "./internal/queuelab", "./bufferedsender/queue/filequeue"}},
	// A program made of tests: each soak may use the harness of its subject.
	{Folder: "internal/soak", May: []string{"./internal/sendertest", "./internal/fleetmodel", "./internal/queuekill", "./internal/queuefiles"}},
	// A program to test against a real service: the client, and hiding secrets in recordings.
	{Folder: "internal/live", May: []string{"./internal/sleep", "./search", "./models/...", "./internal/wire", azcore}},
	{Folder: "internal/archtest"},
	{Folder: "internal/mutate"},
	{Folder: "internal/commits"},
	{Folder: "internal/othersystems"},
	{Folder: "internal/reached"},
	{Folder: "internal/release"},
	{Folder: "internal/overview"},
	{Folder: "internal/interop"},
}

// TestsMay are the paths that a _test.go file may import in addition to those of its package.
var TestsMay = []string{
	"./internal/spec",
	"./models/...", "./retry/...", "./events", "./search/...", "./bufferedsender/...", "./internal/testkit/...", "./internal/disk/disktest", "./internal/sqlkit", "./internal/sendertest", "./internal/fleetmodel", "./internal/queuehistory", "./internal/queuelab", "./internal/queuekill", "./internal/queuefiles",
	testify,
	"github.com/jarcoal/httpmock",
	rapid,
	goleak,
	"go.opentelemetry.io/otel/...",
	azcore, azid, // credentials for examples
	pgx, modernc, // drivers for tests of the outbox
	uuid, backoff,
	"go.yaml.in/yaml/v3", // the recorded exchanges; testify depends on it, too
}

// homes limits heavy dependencies to these folders, also in tests. Other code must use one of these packages.
var homes = map[string][]string{
	stemmers: {"search/searchtest/internal/textindex/analysis"},
	// The kit, and the packages that take a client from users. A program that only sends builds neither. Another
	// package that needs a server uses the kit.
	goredis: {"internal/rediskit", "bufferedsender/queue/redisqueue", "search/rebuild/redisstore"},
}

// noLeakCheck are folders of packages that may start goroutines without a TestMain that checks for leaks: goroutines
// of programs end with the process.
var noLeakCheck = []string{"samples/..."}
