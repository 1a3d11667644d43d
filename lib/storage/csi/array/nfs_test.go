package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGanesha says that it read its configuration whenever it is asked to.
func fakeGanesha(t *testing.T, s *nfsServer) {
	t.Helper()
	s.config = filepath.Join(t.TempDir(), "config")
	s.daemon = exec.Command("sh", "-c", `trap 'echo "Reread exports complete"' HUP; echo ready; while :; do sleep 0.01; done`)
	log, err := s.daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.daemon.Process.Kill() })
	if _, err := log.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	go s.follow(log)
}

func TestNFSTakesOnlyThePathsOwnExport(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	a, s := arrayOf(v, paths), newNFSServer(nil)
	fakeGanesha(t, s)
	for i, p := range paths {
		p.server, p.gate.isOpen = s, true
		s.exports[p] = &nfsExport{path: p, id: i + 1, address: "10.0.0." + p.node}
	}
	served := func() (found []string) {
		config, _ := os.ReadFile(s.config)
		for _, part := range []string{"v.1;", "10.0.0.a", "v.2;", "10.0.0.b"} {
			if strings.Contains(string(config), part) {
				found = append(found, part)
			}
		}
		return found
	}
	for how, left := range map[string]string{"client": "v.1; v.2; 10.0.0.b", "unexport": "v.2; 10.0.0.b"} {
		if _, err := a.cut(request{Volume: "v", Generation: 1, How: how}); err != nil || !paths[0].isCut() {
			t.Fatal(how, err)
		}
		if got := strings.Join(served(), " "); got != left {
			t.Errorf("%s: %s", how, got)
		}
		if _, err := a.giveBack(request{Volume: "v", Generation: 1, How: how}); err != nil || paths[0].isCut() {
			t.Fatal(how, err)
		}
		if got := strings.Join(served(), " "); got != "v.1; 10.0.0.a v.2; 10.0.0.b" {
			t.Errorf("%s, given back: %s", how, got)
		}
	}
}

func TestNFSCannotRevokeByWhatItDoesNotKnow(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	a, s := arrayOf(v, paths), newNFSServer(nil)
	paths[0].server = s
	s.exports[paths[0]] = &nfsExport{path: paths[0]}
	if _, err := a.cut(request{Volume: "v", Generation: 1, How: "acl"}); err == nil || paths[0].isCut() {
		t.Error(err)
	}
}
