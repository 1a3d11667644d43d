package main

import "testing"

func TestASmallWriteTakesNoLargeBuffer(t *testing.T) {
	for range 100 {
		giveBuffer(takeBuffer(databasePageBytes))
	}
	for _, size := range []int{sectorBytes, pageBytes, pageBytes + sectorBytes, databasePageBytes, 1 << 20} {
		buffer := takeBuffer(size)
		if len(buffer) != size {
			t.Errorf("%d bytes, want %d", len(buffer), size)
		}
		if cap(buffer) > max(4*size, pageBytes) {
			t.Errorf("%d bytes take a buffer of %d", size, cap(buffer))
		}
		giveBuffer(buffer)
	}
}
