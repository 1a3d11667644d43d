package main

import (
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestLogTellsWhatWasAppliedInOrder(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	mustWrite(t, paths[0], 1, filled('x', 2))
	mustFlush(t, paths[0])
	mustWrite(t, paths[1], 2, filled('y', 1))
	if err := v.zero(paths[0], 0, 2*sectorBytes); err != nil {
		t.Fatal(err)
	}
	v.cut(paths[1], "test")
	if err := v.write(paths[1], 0, filled('z', 1)); err == nil {
		t.Error("a cut path wrote")
	}
	records := logged(t, v)
	want := []op{opWrite, opFlushBegin, opFlushEnd, opWrite, opZero, opCut, opRefused}
	if got := ops(records); !slices.Equal(got, want) {
		t.Fatalf("ops %v, want %v", got, want)
	}
	if records[2].offset != 1 {
		t.Errorf("the flush ends record %d, want 1", records[2].offset)
	}
	if last := records[6]; last.flags != uint8(opWrite) || last.generation != 2 {
		t.Errorf("refused: %+v", last)
	}
	if !slices.IsSortedFunc(records, func(x, y record) int { return int(x.timeNs) - int(y.timeNs) }) {
		t.Error("times go back")
	}
	checkReplay(t, v)
}

func TestLogHeader(t *testing.T) {
	header := logHeader(1 << 30)
	if len(header) != headerBytes || string(header[:8]) != "FDWRLOG1" {
		t.Fatalf("header %q", header)
	}
	if size := binary.LittleEndian.Uint64(header[16:]); size != 1<<30 {
		t.Errorf("volume size %d", size)
	}
}

func TestLogContinuesBehindItsLastWholeRecord(t *testing.T) {
	folder := t.TempDir()
	first, err := openLog(folder, testBytes)
	if err != nil {
		t.Fatal(err)
	}
	first.add(record{op: opOpen}, []byte("data"))
	first.close()
	path := filepath.Join(folder, "writes.log")
	content, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(content, "half a record"...), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := openLog(folder, 2*testBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer second.close()
	if index := second.add(record{op: opClose}, nil); index != 1 {
		t.Errorf("the next record is %d, want 1", index)
	}
	v := &volume{folder: folder, log: second}
	if got := ops(logged(t, v)); !slices.Equal(got, []op{opOpen, opClose}) {
		t.Errorf("ops %v", got)
	}
	if second.dataSize != 4 {
		t.Errorf("%d bytes of data, want 4", second.dataSize)
	}
}

func TestAKilledArrayLeavesAMarkInItsLog(t *testing.T) {
	folder := t.TempDir()
	killed, err := openLog(folder, testBytes)
	if err != nil {
		t.Fatal(err)
	}
	killed.add(record{op: opOpen}, nil)
	killed.flush()
	killed.add(record{op: opWrite}, nil)
	next, err := openLog(folder, testBytes)
	if err != nil {
		t.Fatal(err)
	}
	next.close()
	last, err := openLog(folder, testBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer last.close()
	v := &volume{folder: folder, log: last}
	if got := ops(logged(t, v)); !slices.Equal(got, []op{opOpen, opKilled}) {
		t.Errorf("ops %v", got)
	}
}

func TestTimesNeverGoBackWhoeverLogs(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 2000 {
				_ = v.refuse(paths[0], opWrite, 0, sectorBytes)
			}
		})
	}
	running.Wait()
	if !slices.IsSortedFunc(logged(t, v), func(x, y record) int { return cmp.Compare(x.timeNs, y.timeNs) }) {
		t.Error("times go back")
	}
}
