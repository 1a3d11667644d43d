package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeTgt is a tgtadm with two sessions, of which the second one can be made to stay; it returns what it was asked.
func fakeTgt(t *testing.T, stays bool) func() string {
	t.Helper()
	folder := t.TempDir()
	script := `#!/bin/sh
cd ` + folder + `
echo "$4 $6: $*" >>asked
case "$4 $6" in
"show conn")
	for s in 1 2; do
		[ -e ended$s ] || printf 'Session: %s\n    Connection: 0\n        Initiator: a\n' $s
	done ;;
"delete conn") for s in 1 ` + map[bool]string{false: "2"}[stays] + `; do case "$*" in *"--sid $s "*) touch ended$s ;; esac; done ;;
esac
`
	if err := os.WriteFile(filepath.Join(folder, "tgtadm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return func() string {
		asked, _ := os.ReadFile(filepath.Join(folder, "asked"))
		return string(asked)
	}
}

func offeredByISCSI(v *volume, paths []*path) (*array, *path) {
	a, s, p := arrayOf(v, paths), newISCSIServer(), paths[0]
	p.server, p.gate.isOpen = s, true
	s.targets[p] = &iscsiTarget{id: "1"}
	return a, p
}

func TestISCSIIsCutOnceNoSessionIsLeft(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	asked := fakeTgt(t, false)
	a, p := offeredByISCSI(v, paths)
	if _, err := a.cut(request{Volume: "v", Generation: 1, How: "acl+session"}); err != nil || !p.isCut() {
		t.Fatal(err)
	}
	unbind, first := strings.Index(asked(), "unbind target"), strings.Index(asked(), "delete conn")
	if unbind < 0 || first < unbind || !strings.Contains(asked(), "--sid 2 ") {
		t.Error(asked())
	}
	// The gate is open: what the target lets through all the same is in the log.
	mustWrite(t, p, 0, filled('x', 1))
	if got := ops(logged(t, v)); len(got) != 2 || got[0] != opCut || got[1] != opWrite {
		t.Error(got)
	}
}

func TestISCSIIsNotCutByHalf(t *testing.T) {
	for _, how := range []string{"acl", "session"} {
		v, paths := newTestVolume(t, "a")
		fakeTgt(t, false)
		a, p := offeredByISCSI(v, paths)
		if _, err := a.cut(request{Volume: "v", Generation: 1, How: how}); err != nil || p.isCut() {
			t.Error(how, err, p.isCut())
		}
	}
}

func TestISCSISaysNothingOfACutWhileASessionStays(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	fakeTgt(t, true)
	tgtPatience = 200 * time.Millisecond
	a, p := offeredByISCSI(v, paths)
	if _, err := a.cut(request{Volume: "v", Generation: 1, How: "acl+session"}); err == nil || p.isCut() {
		t.Error(err)
	}
	if got := ops(logged(t, v)); len(got) != 0 {
		t.Error(got)
	}
}
