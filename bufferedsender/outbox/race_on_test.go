//go:build race

package outbox

// raceEnabled says that the race detector makes all of it slow.
const raceEnabled = true
