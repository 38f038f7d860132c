package filequeue

import "syscall"

// networkNames are file systems that several machines can mount at the same time, by the f_type of statfs(2).
var networkNames = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
	0x01021997: "9P",
	0x5346414f: "AFS",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x19830326: "BeeGFS",
	0x73757245: "Coda",
	0x564c:     "NCP",
}

// networkName returns the name of a directory's file system if that is a known network file system, otherwise "". FUSE
// is not recognized: it can be anything.
func networkName(dir string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return ""
	}
	return networkNames[uint32(st.Type)] //nolint:gosec // signed or not, of 32 or 64 bits
}
