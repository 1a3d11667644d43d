package main

import (
	"bytes"
	"maps"
	"slices"
)

// restore makes the disk what it would be without the writes that are not kept, and logs what it
// put back as done by the path. `keeps` says how many first bytes of a lost write stay; a write
// that is not in it stays whole. Writes that others made later are left to them. The caller holds
// the volume's lock.
func (v *volume) restore(keeps map[*cached]int, by *path) error {
	histories := v.cache.histories(keeps)
	run := restoredRun{by: by}
	for _, sector := range slices.Sorted(maps.Keys(histories)) {
		content, err := v.withoutLost(sector, histories[sector], keeps)
		if err != nil {
			return err
		}
		if content == nil {
			continue
		}
		if !run.continues(sector) {
			if err := v.putBack(run); err != nil {
				return err
			}
			run = restoredRun{by: by, offset: sector * sectorBytes}
		}
		run.content = append(run.content, content...)
	}
	return v.putBack(run)
}

// restoredRun is a range of sectors that get other content.
type restoredRun struct {
	by      *path
	offset  int64
	content []byte
}

func (r restoredRun) continues(sector int64) bool {
	return sector*sectorBytes == r.offset+int64(len(r.content)) && len(r.content) < maxLogPending
}

// histories are, for each sector that a write which is not kept touched, the remembered writes to
// it, oldest first.
func (u *unflushed) histories(keeps map[*cached]int) map[int64][]*cached {
	found := map[int64][]*cached{}
	for entry, kept := range keeps {
		for at := entry.offset + int64(kept); at < entry.offset+int64(entry.length); at += sectorBytes {
			found[at/sectorBytes] = nil
		}
	}
	for _, entry := range u.entries {
		for at := entry.offset; at < entry.offset+int64(entry.length); at += sectorBytes {
			if history, touched := found[at/sectorBytes]; touched {
				found[at/sectorBytes] = append(history, entry)
			}
		}
	}
	return found
}

// withoutLost plays the sector's history again without the writes that are lost, and returns its
// content, or nil where the disk has it already. What later writes remember of it is put right.
func (v *volume) withoutLost(sector int64, history []*cached, keeps map[*cached]int) ([]byte, error) {
	onDisk := make([]byte, sectorBytes)
	if _, err := preadAll(v.disk, onDisk, sector*sectorBytes); err != nil {
		return nil, err
	}
	content := slices.Clone(history[0].oldAt(sector))
	for at, entry := range history {
		// What this write had put there is what the next one replaced.
		written := onDisk
		if at+1 < len(history) {
			written = slices.Clone(history[at+1].oldAt(sector))
		}
		if old := entry.oldAt(sector); old != nil && content != nil {
			copy(old, content)
		}
		kept, lost := keeps[entry]
		if !lost || sector*sectorBytes < entry.offset+int64(kept) {
			content = written
		}
	}
	if content == nil || bytes.Equal(content, onDisk) {
		return nil, nil
	}
	return content, nil
}

// oldAt is what the write replaced in that sector; nil once it is durable.
func (c *cached) oldAt(sector int64) []byte {
	if c.old == nil {
		return nil
	}
	from := sector*sectorBytes - c.offset
	return c.old[from : from+sectorBytes]
}

func (v *volume) putBack(run restoredRun) error {
	if len(run.content) == 0 {
		return nil
	}
	if err := pwriteAll(v.disk, run.content, run.offset); err != nil {
		return err
	}
	v.touch(run.offset, int64(len(run.content)))
	v.log.add(record{
		offset: uint64(run.offset), length: uint32(len(run.content)),
		generation: run.by.generation, op: opRestored,
	}, run.by.kept(run.content))
	return nil
}
