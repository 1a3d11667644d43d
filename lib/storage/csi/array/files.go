package main

import (
	"errors"
	"os"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// filesValid is how long a mount believes what it knows of names and sizes, as NFS does.
const filesValid = time.Second

// serveFiles passes a directory through at another path until it is unmounted or a signal comes.
// Locks are not passed through: the kernel keeps them per mount, as for NFS mounted with `nolock`.
func serveFiles(root, mount string, ended <-chan os.Signal) error {
	if mount == "" {
		return errors.New("files needs --mount")
	}
	if err := ensureKernelDevices(); err != nil {
		return err
	}
	directory, err := fs.NewLoopbackRoot(root)
	if err != nil {
		return err
	}
	valid := filesValid
	server, err := fs.Mount(mount, directory, &fs.Options{
		EntryTimeout: &valid,
		AttrTimeout:  &valid,
		MountOptions: fuse.MountOptions{
			AllowOther:        true,
			DirectMountStrict: true,
			FsName:            root,
			Name:              "forcedetach-files",
			MaxWrite:          maxRequestBytes,
			Options:           []string{"default_permissions"},
		},
	})
	if err != nil {
		return err
	}
	go func() {
		<-ended
		_ = unix.Unmount(mount, unix.MNT_DETACH)
		os.Exit(0)
	}()
	server.Wait()
	return nil
}
