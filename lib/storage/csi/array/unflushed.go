package main

import "slices"

const (
	// sectorBytes is the unit a disk writes whole; loop devices ask for multiples of it.
	sectorBytes = 512
	// cacheBytes is the size of the volatile write cache: beyond it the oldest writes become durable,
	// as in a drive (64 to 256 MiB are usual).
	cacheBytes = 256 << 20
	// cacheEntries bounds the bookkeeping of durable writes behind an unflushed one.
	cacheEntries = 1 << 20
)

// unflushed remembers, in their order, the writes of all paths of a volume since the oldest one
// that is not durable, each with the bytes it replaced.
type unflushed struct {
	entries []*cached
	next    uint64
	bytes   int64
}

// cached is one acknowledged write.
type cached struct {
	path    *path
	seq     uint64
	offset  int64
	length  int
	old     []byte // what it replaced; nil once it is durable
	durable bool
}

func (u *unflushed) add(p *path, offset int64, old []byte) {
	entry := &cached{path: p, seq: u.next, offset: offset, length: len(old), old: old}
	u.next++
	u.entries = append(u.entries, entry)
	p.pending = append(p.pending, entry)
	p.unflushedBytes.Add(int64(entry.length))
	u.bytes += int64(entry.length)
	for u.bytes > cacheBytes || len(u.entries) > cacheEntries {
		oldest := u.entries[0]
		u.settle(oldest.path, oldest.seq+1)
	}
}

// settle makes the path's writes before that sequence number durable.
func (u *unflushed) settle(p *path, before uint64) {
	settled := 0
	for _, entry := range p.pending {
		if entry.seq >= before {
			break
		}
		giveBuffer(entry.old)
		entry.durable, entry.old = true, nil
		u.bytes -= int64(entry.length)
		p.unflushedBytes.Add(-int64(entry.length))
		settled++
	}
	p.pending = p.pending[settled:]
	u.trim()
}

// trim drops what no unflushed write precedes.
func (u *unflushed) trim() {
	trimmed := 0
	for trimmed < len(u.entries) && u.entries[trimmed].durable {
		trimmed++
	}
	clear(u.entries[:trimmed])
	u.entries = u.entries[trimmed:]
}

// rememberPiece bounds the memory of one remembered part of a discarded range.
const rememberPiece = 1 << 20

// rememberData puts into the cache what a discard of the range is about to take away. What was a
// hole reads as zeros before and after.
func (v *volume) rememberData(p *path, offset, length int64) error {
	extents, err := dataExtents(v.disk, offset, length)
	if err != nil {
		return err
	}
	for _, each := range extents {
		for each.length > 0 {
			old := make([]byte, min(each.length, rememberPiece))
			if _, err := preadAll(v.disk, old, each.offset); err != nil {
				return err
			}
			v.cache.add(p, each.offset, old)
			each = extent{each.offset + int64(len(old)), each.length - int64(len(old))}
		}
	}
	return nil
}

// of are the writes of these paths that are not durable, oldest first.
func (u *unflushed) of(paths []*path) []*cached {
	var found []*cached
	for _, entry := range u.entries {
		if !entry.durable && slices.Contains(paths, entry.path) {
			found = append(found, entry)
		}
	}
	return found
}

// forget takes out of the history what was lost: it never was. What stays is durable. `keeps` says
// how many first bytes of each unflushed write of the paths stay.
func (u *unflushed) forget(paths []*path, keeps map[*cached]int) {
	for _, p := range paths {
		u.settle(p, u.next)
	}
	for entry, kept := range keeps {
		entry.length = kept
	}
	u.entries = slices.DeleteFunc(u.entries, func(entry *cached) bool { return entry.length == 0 })
}
