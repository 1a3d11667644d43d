package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// The writer puts one number after the other into all sectors in turn: at each moment a first part
// of the disk has the number and the rest the one before.
func TestACopyUnderWritesIsOneMoment(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	const sectorCount = testBytes / sectorBytes
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for number := byte(1); !stop.Load(); number++ {
			for sector := range int64(sectorCount) {
				_ = v.write(paths[0], sector*sectorBytes, filled(number, 1))
			}
		}
	}()
	to := filepath.Join(t.TempDir(), "copy.img")
	moments := map[string]bool{}
	for range 300 {
		if _, _, err := v.copyTo(to); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		checkPrefix(t, content)
		moments[string(content)] = true
	}
	stop.Store(true)
	<-ended
	if len(moments) < 10 {
		t.Errorf("only %d different moments were copied", len(moments))
	}
}

func checkPrefix(t *testing.T, content []byte) {
	t.Helper()
	number := content[0]
	for at := 0; at < len(content); at += sectorBytes {
		if !bytes.Equal(content[at:at+sectorBytes], filled(content[at], 1)) {
			t.Fatalf("sector %d is mixed", at/sectorBytes)
		}
		if content[at] == number {
			continue
		}
		if number != content[0] || content[at] != number-1 {
			t.Fatalf("sector %d has %d after %d", at/sectorBytes, content[at], number)
		}
		number = content[at]
	}
}

func TestACopyHasTheHolesOfTheVolume(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	if err := v.zero(paths[0], 0, testBytes); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, paths[0], 16, filled('x', 8))
	copied, _, err := v.copyTo(filepath.Join(t.TempDir(), "copy.img"))
	if err != nil {
		t.Fatal(err)
	}
	if copied >= testBytes {
		t.Errorf("%d bytes copied of %d", copied, testBytes)
	}
}
