package repair

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// otherProcessOf is the environment variable with service and folder that makes the test binary run a pass as another
// process.
const otherProcessOf = "REPAIR_TEST_OF"

func otherProcess(url, dir string) error {
	client, err := search.NewClientWithKey(url, "hotels", azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[thing]{Logger: quiet})
	if err != nil {
		return err
	}
	source, err := OpenJSONL(filepath.Join(dir, "things.jsonl"), &JSONLOptions{Key: "id", Version: "version"})
	if err != nil {
		return err
	}
	store, err := NewFileStore(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version", PageSize: 200})
	if err != nil {
		return err
	}
	_, err = repairer(source, rows, sender.Raw(), &Options{Pause: 10 * time.Millisecond, Store: store, MaxShare: 1, Splits: []string{"0700", "1900"}, Logger: quiet}).Run(context.Background())
	return err
}

// The process is killed ten times at random and then runs to its end.
func TestAKilledProcessIsFollowedByOneThatGoesOn(t *testing.T) {
	testkit.Long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "things.jsonl"))
	require.NoError(t, err)
	service := searchtest.NewServer(nil)
	defer service.Close()
	require.NoError(t, service.Listen("127.0.0.1:0"))
	require.NoError(t, service.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"version","type":"Edm.Int64"}]}`))
	client, err := search.NewClientWithKey(service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), nil)
	require.NoError(t, err)
	var there []thing
	for i := range 3000 {
		d := thing{ID: fmt.Sprintf("%04d", i), Version: 7}
		_, err := fmt.Fprintf(file, "{\"id\":%q,\"version\":7}\n", d.ID)
		require.NoError(t, err)
		switch {
		case i%40 == 0: // it is missing
			d.ID += "x" // another one is surplus; so few deletes need no AllowDeletes, whose value would depend on the kill
		case i%10 == 1:
			d.Version = 3
		}
		there = append(there, d)
	}
	require.NoError(t, file.Close())
	for _, part := range [][]thing{there[:1000], there[1000:2000], there[2000:]} {
		_, err := search.UploadDocuments(t.Context(), client, part, nil)
		require.NoError(t, err)
	}
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), otherProcessOf+"="+service.URL()+" "+dir)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		return cmd
	}
	killed := 0
	for range 10 {
		cmd := start()
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // at a random position
		if cmd.Process.Kill() == nil && cmd.Wait() != nil {
			killed++
		}
	}
	require.NoError(t, start().Wait())
	assert.NotZero(t, killed)
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
	require.NoError(t, err)
	source, err := OpenJSONL(file.Name(), &JSONLOptions{Key: "id", Version: "version"})
	require.NoError(t, err)
	defer source.Close()
	report, err := repairer(source, rows, nil, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int64{3000, 3000}, []int64{report.SourceRows, report.IndexRows})
	assert.True(t, report.Agrees(), "%+v", report)
}
