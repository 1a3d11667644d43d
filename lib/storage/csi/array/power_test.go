package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func lose(t *testing.T, a *array, node, kind, seed string) powerLost {
	t.Helper()
	result, err := a.losePower(request{Volume: "v", Node: node, Unflushed: kind, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return result.(powerLost)
}

func TestDropsWhatWasNotFlushed(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	mustWrite(t, paths[0], 0, filled('x', 4))
	mustFlush(t, paths[0])
	mustWrite(t, paths[0], 1, filled('y', 2))
	mustWrite(t, paths[0], 2, filled('z', 3))
	got := lose(t, arrayOf(v, paths), "a", "drops", "")
	if want := (powerLost{1, 2, 5 * sectorBytes, 0}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if disk := sectors(t, v, 5); !bytes.Equal(disk, []byte("xxxx\x00")) {
		t.Errorf("disk %q", disk)
	}
	checkReplay(t, v)
	if err := v.write(paths[0], 0, filled('q', 1)); err == nil {
		t.Error("it writes without power")
	}
}

func TestKeepsEverythingWhenAskedTo(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	mustWrite(t, paths[0], 0, filled('x', 2))
	got := lose(t, arrayOf(v, paths), "a", "keeps", "")
	if want := (powerLost{1, 1, 2 * sectorBytes, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if disk := sectors(t, v, 2); string(disk) != "xx" {
		t.Errorf("disk %q", disk)
	}
}

func TestIgnoredFlushesMakeNothingDurable(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	paths[0].honest = false
	mustWrite(t, paths[0], 0, filled('x', 1))
	mustFlush(t, paths[0])
	if got := lose(t, arrayOf(v, paths), "a", "drops", ""); got.UnflushedWrites != 1 {
		t.Errorf("%+v", got)
	}
	if disk := sectors(t, v, 1); string(disk) != "\x00" {
		t.Errorf("disk %q", disk)
	}
}

func TestAFlushIsOfItsOwnPath(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	mustWrite(t, paths[0], 0, filled('x', 1))
	mustWrite(t, paths[1], 1, filled('y', 1))
	mustFlush(t, paths[1])
	lose(t, arrayOf(v, paths), "a", "drops", "")
	if disk := sectors(t, v, 2); string(disk) != "\x00y" {
		t.Errorf("disk %q", disk)
	}
}

func TestLeavesToOthersWhatTheyWroteSince(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	mustWrite(t, paths[0], 0, filled('x', 3))
	mustWrite(t, paths[1], 1, filled('y', 1))
	mustWrite(t, paths[0], 1, filled('z', 2))
	a := arrayOf(v, paths)
	lose(t, a, "a", "drops", "")
	if disk := sectors(t, v, 3); string(disk) != "\x00y\x00" {
		t.Errorf("disk %q", disk)
	}
	// The other one replaced a write that never was: losing its own brings back what was before.
	lose(t, a, "b", "drops", "")
	if disk := sectors(t, v, 3); string(disk) != "\x00\x00\x00" {
		t.Errorf("disk %q", disk)
	}
	checkReplay(t, v)
}

func TestTearsOneWriteAtASector(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	mustWrite(t, paths[0], 0, filled('x', 8))
	mustWrite(t, paths[0], 8, filled('y', 1))
	got := lose(t, arrayOf(v, paths), "a", "tears", "seed")
	if want := (powerLost{1, 2, 9 * sectorBytes, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if disk := sectors(t, v, 9); string(disk) != "xxxx\x00\x00\x00\x00\x00" {
		t.Errorf("disk %q", disk)
	}
}

func TestReordersKeepsALaterWriteWithoutAnEarlierOne(t *testing.T) {
	for _, seed := range []string{"a", "b", "c", "d"} {
		v, paths := newTestVolume(t, "a")
		for sector := range int64(8) {
			mustWrite(t, paths[0], sector, filled('x', 1))
		}
		got := lose(t, arrayOf(v, paths), "a", "reorders", seed)
		disk := sectors(t, v, 8)
		lost, kept := bytes.IndexByte(disk, 0), bytes.LastIndexByte(disk, 'x')
		if lost < 0 || kept < lost || bytes.Count(disk, []byte("x")) != got.Kept {
			t.Errorf("seed %s: disk %q, %+v", seed, disk, got)
		}
		checkReplay(t, v)
	}
}

func TestADiscardIsAnUnflushedWriteToo(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	mustWrite(t, paths[0], 0, filled('x', 16))
	mustFlush(t, paths[0])
	if err := v.zero(paths[0], 0, 8*sectorBytes); err != nil {
		t.Fatal(err)
	}
	if disk := sectors(t, v, 9); string(disk) != "\x00\x00\x00\x00\x00\x00\x00\x00x" {
		t.Errorf("discarded: disk %q", disk)
	}
	lose(t, arrayOf(v, paths), "a", "drops", "")
	if disk := sectors(t, v, 9); string(disk) != "xxxxxxxxx" {
		t.Errorf("disk %q", disk)
	}
}

// A model that remembers the whole disk after each write says what dropping must leave.
func TestDropsLikeAModelDisk(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		v, paths := newTestVolume(t, "a", "b")
		var survivors []func(model []byte) // What is left when a loses power, in order.
		var pending []func(model []byte)
		for step := range 40 {
			writer, sector, length := random.IntN(2), random.IntN(12), 1+random.IntN(4)
			data := filled(byte(step+1), length)
			mustWrite(t, paths[writer], int64(sector), data)
			apply := func(model []byte) { copy(model[sector*sectorBytes:], data) }
			if writer == 1 {
				survivors = append(survivors, apply)
				continue
			}
			at := len(survivors)
			survivors = append(survivors, func([]byte) {})
			pending = append(pending, func([]byte) { survivors[at] = apply })
			if random.IntN(6) == 0 {
				mustFlush(t, paths[0])
				for _, survive := range pending {
					survive(nil)
				}
				pending = nil
			}
		}
		lose(t, arrayOf(v, paths), "a", "drops", "")
		model := make([]byte, testBytes)
		for _, apply := range survivors {
			apply(model)
		}
		disk := make([]byte, testBytes)
		if _, err := preadAll(v.disk, disk, 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(disk, model) {
			t.Fatalf("seed %d: disk %v, want %v", seed, sectors(t, v, 16), model[:16])
		}
		checkReplay(t, v)
	}
}
