package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// op says what a record of the write log tells of.
type op uint8

const (
	opWrite        op = 1  // applied to disk.img
	opFlushBegin   op = 2  // what this generation wrote before it will be durable
	opFlushEnd     op = 3  // offset: index of the flush-begin record
	opZero         op = 4  // discarded or zeroed, applied to disk.img
	opRefused      op = 5  // answered EIO, not applied; flags: the op that was refused
	opFlushIgnored op = 6  // acknowledged, nothing became durable
	opCut          op = 7  // nothing of this generation is applied after this record
	opPowerLost    op = 8  // flags: index of the power loss kind in `powerLosses`
	opOpen         op = 9  //
	opClose        op = 10 //
	opRestored     op = 11 // a power loss put other bytes there
	opLink         op = 12 // flags: 0 pass, 1 stall, 2 fail
	opKilled       op = 13 // the array was killed: what it logged last, up to 100 ms, is missing
	opRevoked      op = 14 // the server took something from the node, which has a way left
	opGivenBack    op = 15 // a revocation was undone
)

const (
	logMagic      = "FDWRLOG1"
	logVersion    = 1
	headerBytes   = 64
	inUseAt       = 24 // Place in the header: 1 while an array has the log open.
	recordBytes   = 40
	noData        = ^uint64(0)
	maxLogPending = 8 << 20 // Data that waits for the file; more is written at once.
)

type record struct {
	timeNs     uint64 // CLOCK_MONOTONIC
	offset     uint64
	dataOffset uint64 // place in writes.data; noData: not kept
	length     uint32
	generation uint32
	op         op
	flags      uint8
}

func (r record) appendTo(buffer []byte) []byte {
	order := binary.LittleEndian
	buffer = order.AppendUint64(buffer, r.timeNs)
	buffer = order.AppendUint64(buffer, r.offset)
	buffer = order.AppendUint64(buffer, r.dataOffset)
	buffer = order.AppendUint32(buffer, r.length)
	buffer = order.AppendUint32(buffer, r.generation)
	return append(buffer, byte(r.op), r.flags, 0, 0, 0, 0, 0, 0)
}

func logHeader(volumeBytes uint64) []byte {
	header := append(make([]byte, 0, headerBytes), logMagic...)
	header = binary.LittleEndian.AppendUint32(header, recordBytes)
	header = binary.LittleEndian.AppendUint32(header, logVersion)
	header = binary.LittleEndian.AppendUint64(header, volumeBytes)
	header = header[:headerBytes]
	header[inUseAt] = 1
	return header
}

// logBytes is what waits for the files.
type logBytes struct{ records, data []byte }

// writeLog appends to writes.log and writes.data. The order of records is the order of calls.
type writeLog struct {
	mu       sync.Mutex // guards what waits and the counts
	pending  logBytes
	spare    logBytes // empty, kept for its memory
	count    uint64   // records so far
	latestNs uint64
	dataSize uint64

	flushing sync.Mutex // one flush at a time: the files are appended in order
	closed   bool
	file     *os.File
	dataFile *os.File
}

// openLog continues the log of a volume, or begins it.
func openLog(folder string, volumeBytes uint64) (*writeLog, error) {
	file, size, err := openAtEnd(filepath.Join(folder, "writes.log"))
	if err != nil {
		return nil, err
	}
	log := &writeLog{file: file, count: uint64(max(size-headerBytes, 0)) / recordBytes}
	var inUse [1]byte
	if _, err := file.ReadAt(inUse[:], inUseAt); err != nil && err != io.EOF {
		return nil, err
	}
	// The volume may have grown since.
	if _, err := file.WriteAt(logHeader(volumeBytes), 0); err != nil {
		return nil, err
	}
	// A killed array may have left half a record.
	end := headerBytes + int64(log.count)*recordBytes
	if err := file.Truncate(end); err != nil {
		return nil, err
	}
	if _, err := file.Seek(end, io.SeekStart); err != nil {
		return nil, err
	}
	data, dataSize, err := openAtEnd(filepath.Join(folder, "writes.data"))
	if err != nil {
		return nil, err
	}
	log.dataFile, log.dataSize = data, uint64(dataSize)
	if inUse[0] != 0 {
		log.add(record{op: opKilled}, nil)
	}
	return log, nil
}

func openAtEnd(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, 0, err
	}
	size, err := file.Seek(0, io.SeekEnd)
	return file, size, err
}

// add appends a record, with the bytes it is about where they are kept, and returns its index. Its time is now where
// it has none.
func (l *writeLog) add(r record, data []byte) uint64 {
	r.dataOffset = noData
	l.mu.Lock()
	// Under the lock, so that times never go back from one record to the next.
	if r.timeNs == 0 {
		r.timeNs = monotonicNs()
	}
	r.timeNs = max(r.timeNs, l.latestNs)
	l.latestNs = r.timeNs
	if data != nil {
		r.dataOffset = l.dataSize
		l.dataSize += uint64(len(data))
		l.pending.data = append(l.pending.data, data...)
	}
	l.pending.records = r.appendTo(l.pending.records)
	index := l.count
	l.count++
	full := len(l.pending.data) > maxLogPending
	l.mu.Unlock()
	if full {
		l.flush()
	}
	return index
}

// flush hands all records so far to the kernel. A log that can't be written would make evidence of
// a gap, so the array ends instead.
func (l *writeLog) flush() {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	if l.closed {
		return
	}
	l.mu.Lock()
	full := l.pending
	l.pending = l.spare
	l.mu.Unlock()
	// Data first: no record points behind the end of the data.
	for _, part := range []struct {
		file  *os.File
		bytes []byte
	}{{l.dataFile, full.data}, {l.file, full.records}} {
		if len(part.bytes) == 0 {
			continue
		}
		if _, err := part.file.Write(part.bytes); err != nil {
			fmt.Fprintf(os.Stderr, "forcedetach-array: write log lost: %v\n", err)
			os.Exit(1)
		}
	}
	l.spare = logBytes{full.records[:0], full.data[:0]}
}

func (l *writeLog) close() {
	l.flush()
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.closed = true
	// Left at 1 where this fails, which claims a gap and hides none.
	_, _ = l.file.WriteAt([]byte{0}, inUseAt)
	l.file.Close()
	l.dataFile.Close()
}
