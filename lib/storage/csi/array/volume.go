package main

import (
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// volume is one disk.img with all paths to it. One lock orders what is applied to it and logged.
type volume struct {
	name   string
	folder string
	disk   int // file descriptor of disk.img
	size   int64
	log    *writeLog
	users  int // open paths and running copies; guarded by array.mu

	mu       sync.Mutex
	cache    unflushed
	trackers []*tracker // of running copies
}

func openVolume(root, name string) (*volume, error) {
	folder := filepath.Join(root, "volumes", name)
	// Reading what a write replaces must not make the inode dirty: that costs as much as the write.
	const flags = unix.O_RDWR | unix.O_CLOEXEC | unix.O_NOATIME
	disk, err := unix.Open(filepath.Join(folder, "disk.img"), flags, 0)
	if err == unix.ENOENT {
		return nil, failure("NO_SUCH_VOLUME", "there is no volume %s", name)
	}
	if err != nil {
		return nil, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(disk, &stat); err != nil {
		unix.Close(disk)
		return nil, err
	}
	log, err := openLog(folder, uint64(stat.Size))
	if err != nil {
		unix.Close(disk)
		return nil, err
	}
	return &volume{name: name, folder: folder, disk: disk, size: stat.Size, log: log}, nil
}

// isReplaced is true where the volume was removed and made anew while an old path held its file.
func (v *volume) isReplaced() bool {
	var open, named unix.Stat_t
	return unix.Fstat(v.disk, &open) == nil &&
		unix.Stat(filepath.Join(v.folder, "disk.img"), &named) == nil &&
		open.Ino != named.Ino
}

func (v *volume) close() {
	v.log.close()
	unix.Close(v.disk)
}

// note logs an event of a path.
func (v *volume) note(p *path, event op, flags uint8) {
	v.log.add(record{generation: p.generation, op: event, flags: flags}, nil)
}

// refuse logs a request that was answered EIO. The caller holds the lock or needs no order.
func (v *volume) refuse(p *path, what op, offset int64, length int) unix.Errno {
	v.log.add(record{
		offset: uint64(offset), length: uint32(length),
		generation: p.generation, op: opRefused, flags: uint8(what),
	}, nil)
	return unix.EIO
}

func (v *volume) read(p *path, offset int64, into []byte) (int, error) {
	n, err := preadAll(v.disk, into, offset)
	p.reads.Add(1)
	p.bytesRead.Add(int64(n))
	return n, err
}

func (v *volume) write(p *path, offset int64, data []byte) error {
	old := takeBuffer(len(data))
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.isRefused() {
		return v.refuse(p, opWrite, offset, len(data))
	}
	if _, err := preadAll(v.disk, old, offset); err != nil {
		return err
	}
	if err := pwriteAll(v.disk, data, offset); err != nil {
		return err
	}
	startWriting(v.disk, offset, int64(len(data)))
	v.touch(offset, int64(len(data)))
	v.cache.add(p, offset, old)
	v.log.add(record{
		offset: uint64(offset), length: uint32(len(data)), generation: p.generation, op: opWrite,
	}, p.kept(data))
	p.writes.Add(1)
	p.bytesWritten.Add(int64(len(data)))
	return nil
}

// zero makes the range read as zeros and gives its space back.
func (v *volume) zero(p *path, offset, length int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.isRefused() {
		return v.refuse(p, opZero, offset, int(length))
	}
	if err := v.rememberData(p, offset, length); err != nil {
		return err
	}
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if err := unix.Fallocate(v.disk, punch, offset, length); err != nil {
		return err
	}
	v.touch(offset, length)
	// A record's length has 32 bits; a discard may be longer.
	for length > 0 {
		part := min(length, 1<<31)
		v.log.add(record{
			offset: uint64(offset), length: uint32(part), generation: p.generation, op: opZero,
		}, nil)
		offset, length = offset+part, length-part
	}
	return nil
}

// flush makes durable what the path was told to have written before.
func (v *volume) flush(p *path) error {
	p.flushes.Add(1)
	v.mu.Lock()
	if p.isRefused() {
		defer v.mu.Unlock()
		return v.refuse(p, opFlushBegin, 0, 0)
	}
	if !p.honest {
		defer v.mu.Unlock()
		v.note(p, opFlushIgnored, 0)
		return nil
	}
	begin := v.log.add(record{generation: p.generation, op: opFlushBegin}, nil)
	before := v.cache.next
	v.mu.Unlock()
	if err := unix.Fdatasync(v.disk); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.isRefused() {
		return v.refuse(p, opFlushBegin, 0, 0)
	}
	v.cache.settle(p, before)
	v.log.add(record{offset: begin, generation: p.generation, op: opFlushEnd}, nil)
	return nil
}

// cut makes the array refuse the path for ever. No write of it is applied after this returns.
func (v *volume) cut(p *path, why string) {
	v.noteCut(p, why, true)
	p.gate.shutForEver()
}

func (v *volume) noteCut(p *path, why string, refused bool) {
	v.mu.Lock()
	if refused {
		p.refused.Store(true)
	}
	if !p.isCut() {
		p.cutWhy = why
		p.cutNs.Store(monotonicNs())
		v.note(p, opCut, 0)
	}
	v.mu.Unlock()
	v.log.flush()
}
