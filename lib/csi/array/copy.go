package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// copy writes the volume as it is at one moment to a file under the root.
func (a *array) copy(asked request) (any, error) {
	to := filepath.Clean(asked.To)
	if !isName(asked.Volume) || !strings.HasPrefix(to, filepath.Clean(a.root)+"/") {
		return nil, failure("BAD_REQUEST", "copy needs a volume and a file under %s", a.root)
	}
	v, err := a.use(asked.Volume)
	if err != nil {
		return nil, err
	}
	defer a.release(v)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	bytes, heldMs, err := v.copyTo(to)
	if err != nil {
		os.Remove(to)
		return nil, err
	}
	return map[string]any{"bytes": bytes, "heldMs": heldMs}, nil
}

func (v *volume) copyTo(path string) (bytes int64, heldMs float64, err error) {
	into, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(into)
	if err := unix.Ftruncate(into, v.size); err != nil {
		return 0, 0, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	begun := time.Now()
	extents, err := dataExtents(v.disk, 0, v.size)
	if err != nil {
		return 0, 0, err
	}
	for _, each := range extents {
		if err := copyRange(v.disk, into, each); err != nil {
			return 0, 0, err
		}
		bytes += each.length
	}
	v.log.flush()
	return bytes, float64(time.Since(begun).Microseconds()) / 1000, nil
}

func copyRange(from, into int, each extent) error {
	for each.length > 0 {
		read, wrote := each.offset, each.offset
		n, err := unix.CopyFileRange(from, &read, into, &wrote, int(each.length), 0)
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.EIO
		}
		each = extent{each.offset + int64(n), each.length - int64(n)}
	}
	return nil
}
