package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// listenRemote serves the paths of the array to initiators (initiator.go).
func (a *array) listenRemote() error {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", nbdPort))
	if err == nil {
		go serveNBD(listener, a.find)
	}
	return err
}

// find is the open path of that name. Its volume stays open until it is let go.
func (a *array) find(name string) *export {
	for _, p := range a.livePaths(func(p *path) bool { return p.isRemote && fileName(p.volume.name, p.generation) == name }) {
		if a.hold(p) {
			return &export{disk: p, ended: p.gone, letGo: func() { a.release(p.volume) }}
		}
	}
	return nil
}

// bindRemote makes the node's device of the path, by the initiator beside the node.
func (a *array) bindRemote(p *path, connect string) error {
	a.mu.Lock()
	a.paths[p.key()] = p // found from now on
	a.mu.Unlock()
	err := a.listening()
	if err == nil {
		err = a.ask(p.node, request{Do: "connect", Name: fileName(p.volume.name, p.generation), Connect: connect, Loop: p.loop})
	}
	if err != nil {
		a.unbindRemote(p)
	}
	return err
}

// unbindRemote ends the path: what its node still asks is an I/O error. An initiator that does not answer is dead.
func (a *array) unbindRemote(p *path) {
	_ = a.ask(p.node, request{Do: "stop", Name: fileName(p.volume.name, p.generation)})
	removeLoop(p.loop)
	a.ended(p)
}

const askPatience = connectPatience + 2*time.Second

func (a *array) ask(node string, what request) error {
	connection, err := net.Dial("unix", initiatorSocket(a.root, node))
	if err != nil {
		return failure("NO_INITIATOR", "no initiator answers for %s: %v", node, err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(askPatience))
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if _, err := connection.Write(append(line, '\n')); err != nil {
		return err
	}
	answer, err := bufio.NewReader(connection).ReadBytes('\n')
	if err != nil {
		return failure("NO_INITIATOR", "the initiator of %s does not answer: %v", node, err)
	}
	var said struct {
		Error *coded `json:"error"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || said.Error == nil {
		return err
	}
	return said.Error
}
