package main

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// path is one node's way to one volume: a generation of the volume's attachments.
type path struct {
	volume     *volume
	node       string
	generation uint32
	loop       int
	keepData   bool
	honest     bool
	openedNs   uint64
	gate       *gate
	server     server // of a path that the node reaches over the storage network: no file of it is open here; else nil

	cutNs   atomic.Uint64 // 0: not cut; set under volume.mu
	refused atomic.Bool   // by the array itself, for ever; set under volume.mu
	cutWhy  string        // set before cutNs
	pending []*cached     // guarded by volume.mu

	gone                    chan struct{} // closed when nobody has the file open any more
	closedNs                atomic.Uint64 // 0: not closed
	reads, writes, flushes  atomic.Int64
	bytesRead, bytesWritten atomic.Int64
	unflushedBytes          atomic.Int64
}

type pathStatus struct {
	Volume         string `json:"volume"`
	Node           string `json:"node"`
	Generation     uint32 `json:"generation"`
	Loop           int    `json:"loop"`
	Device         string `json:"device"`
	State          string `json:"state"`
	Link           string `json:"link"`
	Held           int    `json:"held"`
	Reads          int64  `json:"reads"`
	Writes         int64  `json:"writes"`
	Flushes        int64  `json:"flushes"`
	BytesWritten   int64  `json:"bytesWritten"`
	BytesRead      int64  `json:"bytesRead"`
	UnflushedBytes int64  `json:"unflushedBytes"`
	OpenedNs       uint64 `json:"openedNs"`
	CutNs          uint64 `json:"cutNs,omitempty"`
	CutWhy         string `json:"cutWhy,omitempty"`
	ClosedNs       uint64 `json:"closedNs,omitempty"`
	LinkNs         uint64 `json:"linkNs,omitempty"`
	Bound          bool   `json:"bound"`
	Claimed        bool   `json:"claimed"`
	Watches        *bool  `json:"watches,omitempty"`
}

// status asks behind only where no file system has the device.
func (p *path) status(behind func() map[int]bool) pathStatus {
	link, sinceNs, held := p.gate.status()
	state, why := "open", ""
	cutNs := p.cutNs.Load()
	if cutNs != 0 {
		state, why = "cut", p.cutWhy
	}
	closed := p.isClosed()
	if closed {
		state = "closed"
	}
	claimed := !closed && (isMounted(p.loop) || behind()[p.loop])
	return pathStatus{
		Volume: p.volume.name, Node: p.node, Generation: p.generation,
		Loop: p.loop, Device: devicePath(p.loop),
		State: state, Link: linkNames[link], LinkNs: sinceNs, Held: held,
		Reads: p.reads.Load(), Writes: p.writes.Load(), Flushes: p.flushes.Load(),
		BytesWritten: p.bytesWritten.Load(), BytesRead: p.bytesRead.Load(),
		UnflushedBytes: p.unflushedBytes.Load(),
		OpenedNs:       p.openedNs, CutNs: cutNs, CutWhy: why, ClosedNs: p.closedNs.Load(),
		Bound: !closed && isBound(p.loop), Claimed: claimed,
	}
}

func (p *path) size() int64 { return p.volume.size }

// read and what follows are what a node asks of its path, each through the gate. `gone` ends its wait.
func (p *path) read(gone <-chan struct{}, offset int64, into []byte) (int, error) {
	held, passes := p.gate.enter(gone)
	defer p.gate.leave(held)
	if !passes {
		return 0, unix.EIO
	}
	return p.volume.read(p, offset, into)
}

func (p *path) write(gone <-chan struct{}, offset int64, data []byte) error {
	held, passes := p.gate.enter(gone)
	defer p.gate.leave(held)
	if !passes {
		return p.volume.refuse(p, opWrite, offset, len(data))
	}
	return p.volume.write(p, offset, data)
}

func (p *path) flush(gone <-chan struct{}) error {
	held, passes := p.gate.enter(gone)
	defer p.gate.leave(held)
	if !passes {
		return p.volume.refuse(p, opFlushBegin, 0, 0)
	}
	return p.volume.flush(p)
}

func (p *path) zero(gone <-chan struct{}, offset, length int64) error {
	held, passes := p.gate.enter(gone)
	defer p.gate.leave(held)
	if !passes {
		return p.volume.refuse(p, opZero, offset, int(length))
	}
	return p.volume.zero(p, offset, length)
}

// setLink makes the path follow its node's link.
func (p *path) setLink(link nodeLink) {
	p.volume.note(p, opLink, uint8(link.state))
	p.gate.set(link.state, link.delay, link.sinceNs)
}

func (p *path) isCut() bool { return p.cutNs.Load() != 0 }

func (p *path) isRefused() bool { return p.refused.Load() }

// name is that of its file, and of what a server offers.
func (p *path) name() string { return fileName(p.volume.name, p.generation) }

func (p *path) isClosed() bool { return p.closedNs.Load() != 0 }

// kept is what of the data goes into the log: all of it or nothing.
func (p *path) kept(data []byte) []byte {
	if !p.keepData {
		return nil
	}
	return data
}
