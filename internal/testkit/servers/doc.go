// Package servers starts real servers for tests: redis-server, a Redis Cluster of three masters with a replica each,
// and PostgreSQL. Only _test.go files and the benchmarks of the module bench import it.
//
// Servers listen on free ports of 127.0.0.1, keep their data in a temporary directory, and are processes of the test,
// so a test that kills one does not affect others. A package that uses them has
//
//	func TestMain(m *testing.M) { servers.Main(m) }
//
// The first test that calls Redis, Cluster or Postgres starts that server, and all tests of the process share it. The
// servers of NewRedis, NewCluster and NewPostgres belong to one test, which may change and kill them. If the test runs
// as root, PostgreSQL runs as the user postgres.
//
// With -short, or if the programs are not installed, tests are skipped with a message that names what is missing. With
// AZSEARCH_TEST_SERVERS=required in the environment they run or fail.
package servers
