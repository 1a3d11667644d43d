package main

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// Lines that an osd of Ceph 20.2.4 logged; times and numbers of requests vary.
const (
	osdPrefix = "2026-11-28T03:46:%s+0000 7ff311bb16c0  1 -- [v2:10.97.0.4:6800/811929035,v1:10.97.0.4:6801/811929035] --> %s -- osd_op_reply(%d "
	osdSuffix = " -- 0x55e38a9ed440 con 0x55e38ab80c00"
	// Of the image 100b4d0c4f42.
	osdData   = "rbd_data.100b4d0c4f42.00000000000000"
	watched   = "rbd_header.100b4d0c4f42 [watch watch cookie 140160821914400] v9'4 uv4 ondisk = 0)"
	wrote     = osdData + "02 [set-alloc-hint object_size 4194304 write_size 4194304,write 65536~4096] v9'7 uv7 ondisk = 0)"
	zeroed    = osdData + "00 [zero 12288~8192] v9'106 uv106 ondisk = 0)"
	shortened = osdData + "00 [truncate 4190208] v9'107 uv107 ondisk = 0)"
	deleted   = osdData + "01 [delete] v9'108 uv108 ondisk = 0)"
	noObject  = osdData + "01 [delete] v10'1 uv0 ondisk = -2 ((2) No such file or directory))"
	haveRead  = osdData + "00 [read 0~4096 out=4096b] v0'0 uv69 ondisk = 0)"
	refused   = osdData + "00 [set-alloc-hint object_size 4194304 write_size 4194304,write 172032~4096] v0'0 uv0 ondisk = -108 ((108) Cannot send after transport endpoint shutdown))"
	newMap    = "2026-11-28T03:46:34.007266+0000 7ff310d846c0  1 -- [v2:10.97.0.4:6800/811929035,v1:10.97.0.4:6801/811929035] <== mon.0 v2:10.97.0.4:3300/0 7 ==== osd_map(10..11 src has 1..11) ==== 633+0+0 (crc 0 0 0) 0x55e38a9cb880 con 0x55e38ab81000"
	sentMap   = "2026-11-28T03:46:34.440314+0000 7ff30556d6c0  1 -- [v2:10.97.0.4:6800/811929035,v1:10.97.0.4:6801/811929035] --> 10.97.0.11:0/2309532970 -- osd_map(10..11 src has 1..11) -- 0x55e38a9ca8c0 con 0x55e38ab80c00"
)

func answerLine(second, client string, tid int, about string) string {
	return fmt.Sprintf(osdPrefix, second, client, tid) + about + osdSuffix
}

func TestOSDAnswersAreParsed(t *testing.T) {
	r, ok := parseAnswer(answerLine("29.800687", "10.97.0.11:0/2309532970", 17, refused))
	if !ok || r.client != "10.97.0.11:0/2309532970" || r.tid != 17 || r.errno != 108 {
		t.Errorf("%+v", r)
	}
	if want := time.Date(2026, 11, 28, 3, 46, 29, 800687000, time.UTC); !r.wall.Equal(want) {
		t.Error(r.wall)
	}
	for _, line := range []string{"", newMap, sentMap, "osd_op_reply(", answerLine("x", "c", 1, wrote)} {
		if _, ok := parseAnswer(line); ok {
			t.Errorf("taken for an answer: %s", line)
		}
	}
	if mapIn(newMap) != 11 || mapIn(sentMap) != 0 || mapIn(answerLine("29.8", "c", 1, wrote)) != 0 {
		t.Error("maps")
	}
}

// rbdOf is a server whose image the paths' nodes open, by the addresses 10.97.0.11 and on.
func rbdOf(v *volume, paths []*path) *rbdServer {
	s := newRBDServer(nil)
	s.images[v.name] = &rbdImage{folder: v.folder, inode: inodeOf(v.folder), id: "100b4d0c4f42"}
	for index, p := range paths {
		s.offered[p] = fmt.Sprintf("10.97.0.1%d", index+1)
	}
	v.size = 3 * objectBytes
	return s
}

func TestRBDLogsWhatEachPathsClientWasAnswered(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	s := rbdOf(v, paths)
	a, b, stranger := "10.97.0.11:0/1", "10.97.0.12:0/1", "10.97.0.13:0/1"
	for tid, each := range []struct{ client, about string }{
		{a, wrote}, // before it watches the image, it is not known
		{b, watched}, {a, watched}, {stranger, watched},
		{a, wrote}, {b, zeroed}, {a, shortened}, {a, haveRead}, {a, deleted}, {a, noObject}, {a, refused}, {stranger, wrote},
	} {
		s.read(answerLine("29.8", each.client, tid+1, each.about))
	}
	want := []record{
		{op: opWrite, generation: 1, offset: 2*objectBytes + 65536, length: 4096},
		{op: opZero, generation: 2, offset: 12288, length: 8192},
		{op: opZero, generation: 1, offset: 4190208, length: 4096},
		{op: opZero, generation: 1, offset: objectBytes, length: objectBytes},
		{op: opZero, generation: 1, offset: objectBytes, length: objectBytes},
		{op: opRefused, flags: uint8(opWrite), generation: 1, offset: 172032, length: 4096},
	}
	found := logged(t, v)
	if len(found) != len(want) {
		t.Fatalf("%d records: %v", len(found), ops(found))
	}
	for index, each := range found {
		each.timeNs, each.dataOffset = 0, 0
		if each != want[index] {
			t.Errorf("record %d is %+v, want %+v", index, each, want[index])
		}
	}
	if paths[0].bytesWritten.Load() != 4096 || paths[1].bytesWritten.Load() != 0 {
		t.Error("bytes are miscounted")
	}
}

func TestRBDAClientThatConnectsAgainIsOfTheLatestPathOfItsNode(t *testing.T) {
	v, paths := newTestVolume(t, "a", "a")
	s := rbdOf(v, paths[:1])
	s.read(answerLine("29.8", "10.97.0.11:0/1", 1, watched))
	s.read(answerLine("29.8", "10.97.0.11:0/2", 1, watched))
	if got := s.addressOf(paths[0]); got != "10.97.0.11:0/2" {
		t.Error(got)
	}
	s.offered[paths[1]] = "10.97.0.11"
	s.read(answerLine("29.8", "10.97.0.11:0/3", 1, watched))
	s.read(answerLine("29.9", "10.97.0.11:0/2", 2, wrote))
	s.read(answerLine("29.9", "10.97.0.11:0/3", 2, wrote))
	found := logged(t, v)
	if len(found) != 2 || found[0].generation != 1 || found[1].generation != 2 {
		t.Error(found)
	}
}

func TestRBDLogsARepeatedRequestOnce(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	s := rbdOf(v, paths)
	client := "10.97.0.11:0/1"
	s.read(answerLine("29.8", client, 1, watched))
	for _, tid := range []int{20, 21, 20, 20 + rbdInFlight, 21} {
		s.read(answerLine("29.9", client, tid, wrote))
	}
	if found := logged(t, v); len(found) != 3 {
		t.Errorf("%d records", len(found))
	}
}

func TestRBDPutsAnAnswerAtItsTime(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	s := rbdOf(v, paths)
	s.read(answerLine("29.8", "10.97.0.11:0/1", 1, watched))
	wall := time.Now().Add(-time.Second).UTC()
	line := answerLine("29.8", "10.97.0.11:0/1", 2, wrote)
	s.read(wall.Format("2006-01-02T15:04:05.000000+0000") + line[len("2026-11-28T03:46:29.8+0000"):])
	ago := time.Duration(monotonicNs() - logged(t, v)[0].timeNs)
	if ago < 900*time.Millisecond || ago > 5*time.Second {
		t.Errorf("it is %v old", ago)
	}
}

func TestRBDImageIsOfOneVolumeOnly(t *testing.T) {
	v, _ := newTestVolume(t, "a")
	if inodeOf(v.folder) == 0 || inodeOf(filepath.Join(v.folder, "gone")) != 0 {
		t.Error("inodes")
	}
}

func TestAnInitiatorIsKnownByItsAddressOnTheStorageNetwork(t *testing.T) {
	at := func(address string) net.Addr { return &net.IPNet{IP: net.ParseIP(address)} }
	found, err := ownAmong([]net.Addr{at("127.0.0.1"), at(sinkAddress), at("fe80::1"), at("10.200.0.11"), at("10.201.0.3")})
	if found != "10.200.0.11" || err != nil {
		t.Error(found, err)
	}
	if _, err := ownAmong([]net.Addr{at("127.0.0.1"), at(sinkAddress)}); err == nil {
		t.Error("it is on no network")
	}
}
