package main

import (
	"errors"
	"os"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fileNode = fuse.FUSE_ROOT_ID + 1
	// maxRequestBytes is the largest read or write that the kernel can be told to send.
	maxRequestBytes = 1 << 20
	// attributes never change: the kernel need not ask again.
	validSeconds = 24 * 3600
)

// pathFile is a file system of one file: the volume as one path shows it to its loop device.
type pathFile struct {
	fuse.RawFileSystem
	path  *path
	ended func()
}

// openPathFile serves the path's file on a FUSE mount of its own, and opens it. Each path has its
// own connection to the kernel, so a held one holds up no other. The mount is taken away again at
// once: the file lives as long as somebody has it open; `ended` is called after that, and also
// where this fails.
func openPathFile(p *path, ended func()) (file int, err error) {
	// An image of one program has no /tmp.
	if err := os.MkdirAll(os.TempDir(), 0o777); err != nil {
		ended()
		return 0, err
	}
	mountPoint, err := os.MkdirTemp("", "forcedetach-array-")
	if err != nil {
		ended()
		return 0, err
	}
	defer os.Remove(mountPoint)
	if err := mountPathFile(p, mountPoint, ended); err != nil {
		return 0, err
	}
	// Not os.Open: Go's poller would send the file poll requests.
	file, err = unix.Open(mountPoint+"/"+p.name(), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if detachErr := unix.Unmount(mountPoint, unix.MNT_DETACH); err == nil && detachErr != nil {
		unix.Close(file)
		return 0, detachErr
	}
	return file, err
}

// mountPathFile serves it there until it is unmounted, and nobody has it open any more; `ended` is called after that,
// and also where this fails.
func mountPathFile(p *path, mountPoint string, ended func()) error {
	server, err := fuse.NewServer(
		&pathFile{RawFileSystem: fuse.NewDefaultRawFileSystem(), path: p, ended: ended},
		mountPoint,
		&fuse.MountOptions{
			AllowOther:        true,
			DirectMountStrict: true,
			FsName:            "forcedetach",
			Name:              "forcedetach",
			MaxWrite:          maxRequestBytes,
			MaxBackground:     12,
			// A server of NFS opens by handles.
			ExtraCapabilities: fuse.CAP_ASYNC_DIO | fuse.CAP_EXPORT_SUPPORT,
			// All answers are in memory: a pipe in between only costs.
			DisableSplice: true,
		})
	if err != nil {
		ended()
		return err
	}
	go server.Serve()
	return nil
}

func (f *pathFile) OnUnmount() { f.ended() }

func (f *pathFile) String() string { return "forcedetach" }

func (f *pathFile) attributes(node uint64, out *fuse.Attr) {
	out.Ino, out.Nlink, out.Mode = node, 1, fuse.S_IFREG|0o600
	out.Size, out.Blocks, out.Blksize = uint64(f.path.volume.size), uint64(f.path.volume.size)/512, 4096
	if node == fuse.FUSE_ROOT_ID {
		out.Mode, out.Size, out.Blocks = fuse.S_IFDIR|0o700, 0, 0
	}
}

func (f *pathFile) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	node := uint64(fileNode)
	switch name {
	case f.path.name():
	case ".": // of a handle
		node = header.NodeId
	case "..":
		node = fuse.FUSE_ROOT_ID
	default:
		return fuse.ENOENT
	}
	out.NodeId, out.EntryValid, out.AttrValid = node, validSeconds, validSeconds
	f.attributes(node, &out.Attr)
	return fuse.OK
}

func (f *pathFile) GetAttr(_ <-chan struct{}, input *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.AttrValid = validSeconds
	f.attributes(input.NodeId, &out.Attr)
	return fuse.OK
}

func (f *pathFile) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES | fuse.FOPEN_NOFLUSH
	return fuse.OK
}

// StatFs tells the loop driver the granularity of discards.
func (f *pathFile) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	out.Blocks = uint64(f.path.volume.size) / 4096
	return fuse.OK
}

func (f *pathFile) Read(gone <-chan struct{}, in *fuse.ReadIn, into []byte) (fuse.ReadResult, fuse.Status) {
	n, err := f.path.read(gone, int64(in.Offset), into[:in.Size])
	return fuse.ReadResultData(into[:n]), answer(err)
}

func (f *pathFile) Write(gone <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	return uint32(len(data)), answer(f.path.write(gone, int64(in.Offset), data))
}

func (f *pathFile) Fsync(gone <-chan struct{}, _ *fuse.FsyncIn) fuse.Status {
	return answer(f.path.flush(gone))
}

// Fallocate is how the loop driver discards and zeroes.
func (f *pathFile) Fallocate(gone <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if in.Mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) == 0 {
		return fuse.Status(unix.EOPNOTSUPP)
	}
	return answer(f.path.zero(gone, int64(in.Offset), int64(in.Length)))
}

// answer is what the kernel is told; a disk knows no finer errors.
func answer(err error) fuse.Status {
	var errno unix.Errno
	switch {
	case err == nil:
		return fuse.OK
	case errors.As(err, &errno):
		return fuse.Status(errno)
	}
	return fuse.EIO
}
