//go:build unix

package servers

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// postgresUser returns the user for PostgreSQL's programs if it is another one than the current: they refuse to run as
// root.
func postgresUser() (uid, gid int, other bool, err error) {
	if os.Geteuid() != 0 {
		return 0, 0, false, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, false, fmt.Errorf("root cannot run PostgreSQL: %w: %s", err, installPostgres)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		return 0, 0, false, fmt.Errorf("the user postgres has the numbers %q and %q", u.Uid, u.Gid)
	}
	return uid, gid, true, nil
}

// postgresDir creates a temporary directory owned by that user.
func postgresDir() (string, error) {
	uid, gid, other, err := postgresUser()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "postgres-")
	if err == nil && other {
		err = os.Chown(dir, uid, gid)
	}
	return dir, err
}

// asPostgres makes a command run as that user.
func asPostgres(cmd *exec.Cmd) error {
	uid, gid, other, err := postgresUser()
	if err != nil || !other {
		return err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return nil
}
