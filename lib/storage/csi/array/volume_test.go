package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

const testBytes = 64 * sectorBytes

// newTestVolume is a volume of zeros with one path per node, without FUSE and loop devices.
func newTestVolume(t *testing.T, nodes ...string) (*volume, []*path) {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "volumes", "v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "disk.img"), make([]byte, testBytes), 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := openVolume(root, "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	v.users = len(nodes)
	var paths []*path
	for index, node := range nodes {
		paths = append(paths, &path{
			volume: v, node: node, generation: uint32(index + 1), keepData: true, honest: true,
			gate: newGate(),
		})
	}
	return v, paths
}

// arrayOf is an array that has these paths open.
func arrayOf(v *volume, paths []*path) *array {
	a := &array{
		volumes: map[string]*volume{v.name: v}, paths: map[pathKey]*path{},
		fenced: map[pathKey]string{}, links: map[string]nodeLink{},
	}
	for _, p := range paths {
		a.paths[pathKey{v.name, p.generation}] = p
	}
	return a
}

func filled(value byte, sectors int) []byte { return bytes.Repeat([]byte{value}, sectors*sectorBytes) }

func mustWrite(t *testing.T, p *path, sector int64, data []byte) {
	t.Helper()
	if err := p.volume.write(p, sector*sectorBytes, data); err != nil {
		t.Fatal(err)
	}
}

func mustFlush(t *testing.T, p *path) {
	t.Helper()
	if err := p.volume.flush(p); err != nil {
		t.Fatal(err)
	}
}

// sectors are the first bytes of the first n sectors on the disk.
func sectors(t *testing.T, v *volume, n int) []byte {
	t.Helper()
	content := make([]byte, n*sectorBytes)
	if _, err := preadAll(v.disk, content, 0); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for at := 0; at < len(content); at += sectorBytes {
		if !bytes.Equal(content[at:at+sectorBytes], filled(content[at], 1)) {
			t.Fatalf("sector %d is mixed", at/sectorBytes)
		}
		first = append(first, content[at])
	}
	return first
}

// logged are the records of the log so far.
func logged(t *testing.T, v *volume) []record {
	t.Helper()
	v.log.flush()
	content, err := os.ReadFile(filepath.Join(v.folder, "writes.log"))
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	var records []record
	for at := headerBytes; at < len(content); at += recordBytes {
		one := content[at : at+recordBytes]
		records = append(records, record{
			timeNs: order.Uint64(one), offset: order.Uint64(one[8:]), dataOffset: order.Uint64(one[16:]),
			length: order.Uint32(one[24:]), generation: order.Uint32(one[28:]),
			op: op(one[32]), flags: one[33],
		})
	}
	return records
}

func ops(records []record) []op {
	var found []op
	for _, each := range records {
		found = append(found, each.op)
	}
	return found
}

// replayed is the disk that the log makes out of zeros.
func replayed(t *testing.T, v *volume) []byte {
	t.Helper()
	disk := make([]byte, testBytes)
	records := logged(t, v)
	data, err := os.ReadFile(filepath.Join(v.folder, "writes.data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range records {
		switch each.op {
		case opWrite, opRestored:
			copy(disk[each.offset:], data[each.dataOffset:each.dataOffset+uint64(each.length)])
		case opZero:
			clear(disk[each.offset : each.offset+uint64(each.length)])
		}
	}
	return disk
}

func checkReplay(t *testing.T, v *volume) {
	t.Helper()
	disk := make([]byte, testBytes)
	if _, err := preadAll(v.disk, disk, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(disk, replayed(t, v)) {
		t.Error("the log replayed from zeros is not the disk")
	}
}
