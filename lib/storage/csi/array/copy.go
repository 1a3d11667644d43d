package main

import (
	"os"
	"path/filepath"
	"slices"
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
	bytes, heldMs, err := int64(0), 0.0, error(nil)
	if image := a.rbd.imageOf(v.name); image != nil && image.inode == inodeOf(v.folder) {
		bytes, err = a.rbd.copyTo(v, image, to)
	} else {
		bytes, heldMs, err = v.copyTo(to)
	}
	if err != nil {
		os.Remove(to)
		return nil, err
	}
	return map[string]any{"bytes": bytes, "heldMs": heldMs}, nil
}

// copyTo copies while writes go on and notes what they touch; only what was touched is copied
// again while all paths are held.
func (v *volume) copyTo(path string) (bytes int64, heldMs float64, err error) {
	// A file of its own: a copy that its client gave up may still write to the old one.
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return 0, 0, err
	}
	into, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(into)
	if err := unix.Ftruncate(into, v.size); err != nil {
		return 0, 0, err
	}
	touched := v.track()
	defer v.untrack(touched)
	extents, err := dataExtents(v.disk, 0, v.size)
	if err != nil {
		return 0, 0, err
	}
	for pass := 0; pass == 0 || (pass < maxCopyPasses && total(extents) > heldCopyBytes); pass++ {
		if err := copyRanges(v.disk, into, extents); err != nil {
			return 0, 0, err
		}
		bytes += total(extents)
		v.mu.Lock()
		extents, touched.extents = touched.extents, nil
		v.mu.Unlock()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	begun := time.Now()
	extents = append(extents, touched.extents...)
	if err := copyRanges(v.disk, into, extents); err != nil {
		return 0, 0, err
	}
	v.log.flush()
	return bytes + total(extents), float64(time.Since(begun).Microseconds()) / 1000, nil
}

const (
	// heldCopyBytes may be copied while all paths are held: some milliseconds.
	heldCopyBytes = 16 << 20
	// maxCopyPasses bounds the chase after writers that are faster than the copy.
	maxCopyPasses = 4
)

// tracker collects what is written while it is on the volume's list.
type tracker struct{ extents []extent }

func (v *volume) track() *tracker {
	v.mu.Lock()
	defer v.mu.Unlock()
	added := &tracker{}
	v.trackers = append(v.trackers, added)
	return added
}

func (v *volume) untrack(ended *tracker) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trackers = slices.DeleteFunc(v.trackers, func(each *tracker) bool { return each == ended })
}

// touch tells running copies of a change. The caller holds the volume's lock.
func (v *volume) touch(offset, length int64) {
	for _, each := range v.trackers {
		each.extents = append(each.extents, extent{offset, length})
	}
}

func total(extents []extent) int64 {
	var bytes int64
	for _, each := range extents {
		bytes += each.length
	}
	return bytes
}

func copyRanges(from, into int, extents []extent) error {
	for _, each := range extents {
		if err := copyRange(from, into, each); err != nil {
			return err
		}
	}
	return nil
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
