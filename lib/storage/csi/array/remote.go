package main

import (
	"bufio"
	"encoding/json"
	"net"
	"time"
)

// server is the array's end of a protocol by which initiators (initiator.go) reach paths.
type server interface {
	// offer comes before the initiator connects. The server runs from the first one on.
	offer(p *path) error
	// withdraw ends what is offered: nothing of the node is under way any more when it returns.
	withdraw(p *path)
	// revoke takes the path from its node. It tells whether the node has a way left, as the server shows it;
	// where it has none, nothing of it is under way any more.
	revoke(p *path, how string) (hasWay bool, err error)
	// giveBack undoes that.
	giveBack(p *path, how string) error
}

// ownCut is what the array does by itself: each request is an I/O error.
const ownCut = "cut"

// ownHang is of its own devices: no request is answered any more.
const ownHang = "hang"

func cannotRevoke(p *path, how string) error {
	return failure("BAD_REQUEST", "the path of %s cannot be revoked by %q", p.node, how)
}

func (p *path) revoke(how string) (hasWay bool, err error) {
	if p.server != nil {
		return p.server.revoke(p, how)
	}
	if how != ownHang {
		return true, cannotRevoke(p, how)
	}
	p.gate.hang()
	return false, nil
}

func (p *path) giveBack(how string) error {
	if p.server == nil && how != ownHang {
		return cannotRevoke(p, how)
	}
	if p.server != nil {
		if err := p.server.giveBack(p, how); err != nil {
			return err
		}
	}
	p.volume.mu.Lock()
	defer p.volume.mu.Unlock()
	p.cutNs.Store(0)
	p.volume.note(p, opGivenBack, 0)
	p.gate.letGo() // what it held comes after that
	return nil
}

// revoke leaves a server's gate open: what it lets through all the same is in the log.
func (a *array) revoke(p *path, how, why string) error {
	hasWay, err := p.revoke(how)
	if err != nil {
		return err
	}
	if hasWay {
		p.volume.note(p, opRevoked, 0)
		return nil
	}
	a.mu.Lock()
	a.fenced[p.key()] = why
	a.mu.Unlock()
	p.volume.noteCut(p, why, false)
	return nil
}

// giveBack undoes a revocation, as a mistaken operator may. What the array cut itself is cut for ever.
func (a *array) giveBack(asked request) (any, error) {
	if err := asked.needPath(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	p := a.paths[asked.path()]
	a.mu.Unlock()
	if !a.hold(p) {
		return nil, failure("BAD_REQUEST", "generation %d of %s is not open", asked.Generation, asked.Volume)
	}
	defer a.release(p.volume)
	if p.isRefused() {
		return nil, cannotRevoke(p, asked.How)
	}
	if err := p.giveBack(asked.How); err != nil {
		return nil, err
	}
	a.mu.Lock()
	delete(a.fenced, p.key())
	a.mu.Unlock()
	return map[string]any{}, nil
}

// bindRemote makes the node's device of the path, by the initiator beside the node.
func (a *array) bindRemote(p *path, connect string) error {
	a.mu.Lock()
	a.paths[p.key()] = p // found from now on
	a.mu.Unlock()
	err := p.server.offer(p)
	if err == nil {
		_, err = a.ask(p.node, request{Do: "connect", Name: p.name(), Connect: connect, Loop: p.loop})
	}
	if err != nil {
		a.unbindRemote(p)
	}
	return err
}

// unbindRemote ends the path: what its node still asks is an I/O error. An initiator that does not answer is dead.
func (a *array) unbindRemote(p *path) {
	_, _ = a.ask(p.node, request{Do: "stop", Name: p.name(), Force: p.isCut()})
	removeLoop(p.loop)
	p.server.withdraw(p)
	a.ended(p)
}

const askPatience = connectPatience + 2*time.Second

// said is an initiator's answer.
type said struct {
	Error *coded `json:"error"`
	// Address is its own on the storage network.
	Address string `json:"address"`
}

// asker puts a request to a node's initiator.
type asker func(node string, what request) (said, error)

// addressOf is the initiator's on the storage network: servers know the path's node by it.
func (ask asker) addressOf(p *path) (string, error) {
	answer, err := ask(p.node, request{Do: "address", Name: p.name()})
	return answer.Address, err
}

func (a *array) ask(node string, what request) (answer said, err error) {
	connection, err := net.Dial("unix", initiatorSocket(a.root, node))
	if err != nil {
		return answer, failure("NO_INITIATOR", "no initiator answers for %s: %v", node, err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(askPatience))
	line, err := json.Marshal(what)
	if err != nil {
		return answer, err
	}
	if _, err := connection.Write(append(line, '\n')); err != nil {
		return answer, err
	}
	line, err = bufio.NewReader(connection).ReadBytes('\n')
	if err != nil {
		return answer, failure("NO_INITIATOR", "the initiator of %s does not answer: %v", node, err)
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error == nil {
		return answer, err
	}
	return answer, answer.Error
}
