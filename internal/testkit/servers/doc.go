// Package servers starts real servers for tests: redis-server, a Redis Cluster of three
// masters with a replica each, and PostgreSQL. Nothing but _test.go files and the benchmarks of
// the module bench imports it.
//
// Servers listen on free ports of 127.0.0.1, keep their data in a temporary directory, and are
// processes of the test's own: whoever kills one kills nobody else's. A package that uses them
// has
//
//	func TestMain(m *testing.M) { servers.Main(m) }
//
// Redis, Cluster and Postgres are started by the first test that asks, and shared by all tests of
// the process; those of NewRedis, NewCluster and NewPostgres belong to one test, which may do to
// them what it likes. PostgreSQL runs as the user postgres where the test is root's.
//
// With -short the tests are skipped, and where the programs are not installed, with a message that
// says what is missing. With AZSEARCH_TEST_SERVERS=required in the environment they run, or fail.
package servers
