package main

import (
	"io"
	"sync"

	"golang.org/x/sys/unix"
)

// preadAll reads until the buffer is full or the file ends.
func preadAll(fd int, into []byte, offset int64) (int, error) {
	done := 0
	for done < len(into) {
		n, err := unix.Pread(fd, into[done:], offset+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		if n == 0 {
			break
		}
		done += n
	}
	return done, nil
}

func pwriteAll(fd int, from []byte, offset int64) error {
	for done := 0; done < len(from); {
		n, err := unix.Pwrite(fd, from[done:], offset+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		done += n
	}
	return nil
}

// startWriting makes the kernel write the range to the disk now, without waiting: a flush follows
// most writes of a database, and would find all of it still to do. An error comes up in the flush.
func startWriting(fd int, offset, length int64) {
	_ = unix.SyncFileRange(fd, offset, length, unix.SYNC_FILE_RANGE_WRITE)
}

// extent is a range of a file.
type extent struct{ offset, length int64 }

// dataExtents are the parts of the range that are not holes.
func dataExtents(fd int, offset, length int64) ([]extent, error) {
	var found []extent
	for at, end := offset, offset+length; at < end; {
		start, err := unix.Seek(fd, at, unix.SEEK_DATA)
		if err == unix.ENXIO || (err == nil && start >= end) {
			break
		}
		if err != nil {
			return nil, err
		}
		stop, err := unix.Seek(fd, start, unix.SEEK_HOLE)
		if err != nil {
			return nil, err
		}
		stop = min(stop, end)
		found = append(found, extent{start, stop - start})
		at = stop
	}
	return found, nil
}

// Buffers that were given back, by their size: each write takes one. The cache may hold 256 MiB of
// small writes, so these must not take the buffers of large ones.
var pages, databasePages sync.Pool

const (
	pageBytes         = 4 << 10
	databasePageBytes = 16 << 10
)

func takeBuffer(size int) []byte {
	switch {
	case size <= pageBytes:
		if pooled, ok := pages.Get().(*[pageBytes]byte); ok {
			return pooled[:size]
		}
		return make([]byte, size, pageBytes)
	case size <= databasePageBytes:
		if pooled, ok := databasePages.Get().(*[databasePageBytes]byte); ok {
			return pooled[:size]
		}
		return make([]byte, size, databasePageBytes)
	}
	return make([]byte, size)
}

// giveBuffer takes back a buffer that nobody uses any more.
func giveBuffer(buffer []byte) {
	switch cap(buffer) {
	case pageBytes:
		pages.Put((*[pageBytes]byte)(buffer[:pageBytes]))
	case databasePageBytes:
		databasePages.Put((*[databasePageBytes]byte)(buffer[:databasePageBytes]))
	}
}
