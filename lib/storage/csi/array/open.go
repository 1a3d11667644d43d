package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// unbindPatience is how long a device that nobody claims may take to let go of its file: somebody
// may just be looking at it.
const unbindPatience = 5 * time.Second

func (a *array) open(asked request) (any, error) {
	if err := asked.needPath(); err != nil {
		return nil, err
	}
	if asked.Node == "" || asked.Loop < 0 || (asked.Flushes != "honest" && asked.Flushes != "ignored") {
		return nil, failure("BAD_REQUEST", "open needs a node, a loop number and honest or ignored flushes")
	}
	if asked.Connect != "" && a.servers[asked.Transport] == nil {
		return nil, failure("BAD_REQUEST", "no server for the transport %q", asked.Transport)
	}
	turn := a.turn(asked.path())
	turn.Lock()
	defer turn.Unlock()
	known, err := a.openedAlready(asked)
	if err != nil || known != nil {
		return known, err
	}
	v, err := a.use(asked.Volume)
	if err != nil {
		return nil, err
	}
	p := &path{
		volume: v, node: asked.Node, generation: asked.Generation, loop: asked.Loop,
		keepData: asked.KeepData, honest: asked.Flushes == "honest", gate: newGate(),
		openedNs: monotonicNs(), gone: make(chan struct{}),
	}
	if asked.Connect != "" {
		p.server, p.gate.isOpen = a.servers[asked.Transport], true
	}
	// Before anything can be written: what nobody can name is in no evidence.
	if err := notePath(p); err != nil {
		a.release(v)
		return nil, err
	}
	v.note(p, opOpen, 0)
	if p.server != nil {
		err = a.bindRemote(p, asked.Connect)
	} else {
		err = a.bind(p)
	}
	if err != nil {
		return nil, err
	}
	if why, fenced := a.enter(p); fenced {
		v.cut(p, why)
		_ = a.unbind(p)
		return nil, pathCut(asked, why)
	}
	return map[string]any{"device": devicePath(p.loop)}, nil
}

func pathCut(asked request, why string) error {
	return failure("PATH_CUT", "generation %d of %s was cut: %s", asked.Generation, asked.Volume, why)
}

// openedAlready is the answer where the path is open; nil where it must be opened.
func (a *array) openedAlready(asked request) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.paths[asked.path()]
	if why, fenced := a.fenced[asked.path()]; fenced {
		return nil, pathCut(asked, why)
	}
	if p == nil || p.isClosed() {
		return nil, nil
	}
	if p.node != asked.Node || p.loop != asked.Loop {
		return nil, failure("PATH_DIFFERS", "generation %d of %s is open for %s on %s",
			asked.Generation, asked.Volume, p.node, devicePath(p.loop))
	}
	return map[string]any{"device": devicePath(p.loop)}, nil
}

// bind puts the path's file behind its loop device. The path ends when nobody has the file open.
func (a *array) bind(p *path) error {
	file, err := openPathFile(p, func() { a.ended(p) })
	if err != nil {
		return err
	}
	defer unix.Close(file)
	return bindLoop(p.loop, file, p.name())
}

// unbind detaches the path's device, at once where nobody has it open, else at its last close.
func (a *array) unbind(p *path) error {
	err := detachLoop(p.loop)
	if err == nil && p.server != nil {
		a.unbindRemote(p)
	}
	return err
}

// enter lists the path and gives it its node's link; it says where a cut came meanwhile, and why.
func (a *array) enter(p *path) (why string, fenced bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths[p.key()] = p
	if link, known := a.links[p.node]; known {
		p.setLink(link)
	}
	why, fenced = a.fenced[p.key()]
	return why, fenced
}

// notePath adds the path to paths.jsonl: the log's generations have names there.
func notePath(p *path) error {
	line, err := json.Marshal(map[string]any{
		"volume": p.volume.name, "node": p.node, "generation": p.generation,
		"device": devicePath(p.loop), "timeNs": p.openedNs,
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(p.volume.folder, "paths.jsonl"),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(line, '\n'))
	return err
}

// close takes the device away. By force it is cut first, and where somebody still has it mounted it
// goes with its last user.
func (a *array) close(asked request) (any, error) {
	if err := asked.needPath(); err != nil {
		return nil, err
	}
	turn := a.turn(asked.path())
	turn.Lock()
	defer turn.Unlock()
	a.mu.Lock()
	p := a.paths[asked.path()]
	a.mu.Unlock()
	if p == nil || p.isClosed() {
		return map[string]any{"closed": true}, nil
	}
	if asked.Force {
		_, _ = a.cutNow(p.key(), clientEnd, "closed by force")
	} else if isClaimed(p.loop) || loopsBehindLoops()[p.loop] {
		return nil, failure("PATH_BUSY", "%s is in use", devicePath(p.loop))
	}
	if err := a.unbind(p); err != nil {
		return nil, err
	}
	patience := unbindPatience
	if asked.Force && isMounted(p.loop) {
		patience = 0
	}
	select {
	case <-p.gone:
		removeLoop(p.loop)
	case <-time.After(patience):
		if !asked.Force {
			return nil, failure("PATH_BUSY", "somebody has %s open", devicePath(p.loop))
		}
	}
	return map[string]any{"closed": true}, nil
}

// ended settles a path whose file nobody has open any more.
func (a *array) ended(p *path) {
	v := p.volume
	v.mu.Lock()
	v.cache.settle(p, v.cache.next)
	v.note(p, opClose, 0)
	v.mu.Unlock()
	p.gate.shutForEver()
	p.closedNs.Store(monotonicNs())
	a.release(v)
	close(p.gone)
}
