package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// What a client needs of NBD that asks for no extensions: fixed newstyle negotiation, simple replies
// (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md).
const (
	nbdMagic       = 0x4e42444d41474943
	nbdOption      = 0x49484156454f5054
	nbdOptionReply = 0x0003e889045565a9
	nbdRequest     = 0x25609513
	nbdReply       = 0x67446698

	nbdFixedNewstyle, nbdNoZeroes = 1, 2
	// May be asked: flush, trim, write zeroes, and these fast, or qemu's clients have no holes.
	nbdFlags = 1 | 1<<2 | 1<<5 | 1<<6 | 1<<11

	nbdAbort, nbdInfo, nbdGo          = 2, 6, 7
	nbdAck, nbdSays                   = 1, 3
	nbdUnsupported, nbdUnknown        = 1<<31 + 1, 1<<31 + 6
	nbdRead, nbdWrite, nbdDisconnect  = 0, 1, 2
	nbdFlush, nbdTrim, nbdWriteZeroes = 3, 4, 6
	nbdMaxOption, nbdMaxRequest       = 4096, 32 << 20
	nbdPort                           = 10809
)

// remoteDisk is what a client may ask of a path. `gone` is closed once nobody waits for the answer.
type remoteDisk interface {
	size() int64
	read(gone <-chan struct{}, offset int64, into []byte) (int, error)
	write(gone <-chan struct{}, offset int64, data []byte) error
	flush(gone <-chan struct{}) error
	zero(gone <-chan struct{}, offset, length int64) error
}

// export is a disk that a client has found by its name.
type export struct {
	disk remoteDisk
	// ended is closed where the disk ends before its client.
	ended <-chan struct{}
	// letGo is called after the last request.
	letGo func()
}

// nbdServer offers paths by their names.
type nbdServer struct {
	listening func() error

	mu    sync.Mutex
	doors map[string]*nbdDoor // those that are let in
}

// nbdDoor is what clients of one path go through.
type nbdDoor struct {
	path   *path
	shut   chan struct{} // closed to hang up on them
	inside sync.WaitGroup
}

func newNBDServer() *nbdServer {
	s := &nbdServer{doors: map[string]*nbdDoor{}}
	s.listening = sync.OnceValue(func() error {
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", nbdPort))
		if err == nil {
			go serveNBD(listener, s.find)
		}
		return err
	})
	return s
}

func (s *nbdServer) offer(p *path) error {
	s.open(p)
	return s.listening()
}

func (s *nbdServer) open(p *path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doors[p.name()] = &nbdDoor{path: p, shut: make(chan struct{})}
}

// withdraw waits for what is under way.
func (s *nbdServer) withdraw(p *path) {
	s.mu.Lock()
	door := s.doors[p.name()]
	delete(s.doors, p.name())
	s.mu.Unlock()
	if door != nil {
		close(door.shut)
		door.inside.Wait()
	}
}

func (s *nbdServer) revoke(p *path, how string) (hasWay bool, err error) {
	if how != "connection" && how != "export" {
		return true, cannotRevoke(p, how)
	}
	s.withdraw(p)
	if how == "connection" {
		s.open(p)
	}
	return how == "connection", nil
}

func (s *nbdServer) giveBack(p *path, how string) error {
	if how != "export" {
		return cannotRevoke(p, how)
	}
	s.open(p)
	return nil
}

func (s *nbdServer) find(name string) *export {
	s.mu.Lock()
	defer s.mu.Unlock()
	door := s.doors[name]
	if door == nil {
		return nil
	}
	door.inside.Add(1)
	return &export{disk: door.path, ended: door.shut, letGo: door.inside.Done}
}

// serveNBD answers clients until the listener is closed.
func serveNBD(listener net.Listener, find func(name string) *export) {
	for {
		socket, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer socket.Close()
			client := &nbdClient{socket: socket, from: bufio.NewReaderSize(socket, 64<<10)}
			chosen, err := client.negotiate(find)
			if err != nil {
				return
			}
			defer chosen.letGo()
			client.transmit(chosen)
		}()
	}
}

type nbdClient struct {
	socket  net.Conn
	from    *bufio.Reader
	writing sync.Mutex
}

func (c *nbdClient) get(message any) error { return binary.Read(c.from, binary.BigEndian, message) }

// put sends the fields, all of fixed size, as one message.
func (c *nbdClient) put(fields ...any) error {
	var message []byte
	for _, field := range fields {
		message, _ = binary.Append(message, binary.BigEndian, field)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.socket.Write(message)
	return err
}

var errNBD = errors.New("this client of NBD is not served")

// negotiate returns the disk that the client chooses.
func (c *nbdClient) negotiate(find func(name string) *export) (*export, error) {
	var flags uint32
	if err := c.put(uint64(nbdMagic), uint64(nbdOption), uint16(nbdFixedNewstyle|nbdNoZeroes)); err != nil {
		return nil, err
	}
	if err := c.get(&flags); err != nil {
		return nil, err
	}
	for {
		var asked struct {
			Magic          uint64
			Option, Length uint32
		}
		if err := c.get(&asked); err != nil {
			return nil, err
		}
		if asked.Magic != nbdOption || asked.Length > nbdMaxOption {
			return nil, errNBD
		}
		data := make([]byte, asked.Length)
		if _, err := io.ReadFull(c.from, data); err != nil {
			return nil, err
		}
		chosen, err := c.answerOption(asked.Option, data, find)
		if chosen != nil || err != nil {
			return chosen, err
		}
	}
}

// answerOption returns a disk where that ends the negotiation.
func (c *nbdClient) answerOption(option uint32, data []byte, find func(name string) *export) (*export, error) {
	answer := func(kind uint32, data ...byte) error {
		return c.put(uint64(nbdOptionReply), option, kind, uint32(len(data)), data)
	}
	if option == nbdAbort {
		_ = answer(nbdAck)
		return nil, errNBD
	}
	if option != nbdInfo && option != nbdGo {
		return nil, answer(nbdUnsupported)
	}
	found := find(nameIn(data))
	if found == nil {
		return nil, answer(nbdUnknown)
	}
	// Information of kind 0: the disk's size and flags.
	about := binary.BigEndian.AppendUint64([]byte{0, 0}, uint64(found.disk.size()))
	err := answer(nbdSays, binary.BigEndian.AppendUint16(about, nbdFlags)...)
	if err == nil {
		err = answer(nbdAck)
	}
	if option == nbdInfo || err != nil {
		found.letGo()
		return nil, err
	}
	return found, nil
}

// nameIn is the name in an option's data; empty where there is none.
func nameIn(data []byte) string {
	if len(data) < 4 {
		return ""
	}
	length := uint64(binary.BigEndian.Uint32(data))
	if length > uint64(len(data)-4) {
		return ""
	}
	return string(data[4 : 4+length])
}

type nbdAsked struct {
	Magic       uint32
	Flags, Kind uint16
	Cookie      uint64
	Offset      uint64
	Length      uint32
}

// transmit serves the client's requests side by side, until it leaves or the disk ends.
func (c *nbdClient) transmit(to *export) {
	gone, done := make(chan struct{}), sync.WaitGroup{}
	defer done.Wait()
	defer close(gone)
	go func() {
		select {
		case <-to.ended:
			c.socket.Close()
		case <-gone:
		}
	}()
	for {
		var asked nbdAsked
		if c.get(&asked) != nil || asked.Magic != nbdRequest || asked.Kind == nbdDisconnect {
			return
		}
		var data []byte
		if asked.Kind == nbdRead || asked.Kind == nbdWrite {
			if asked.Length > nbdMaxRequest {
				return
			}
			data = make([]byte, asked.Length)
		}
		if asked.Kind == nbdWrite {
			if _, err := io.ReadFull(c.from, data); err != nil {
				return
			}
		}
		done.Go(func() {
			err := asked.of(to.disk, data, gone)
			if err != nil || asked.Kind != nbdRead {
				data = nil
			}
			_ = c.put(uint32(nbdReply), nbdErrno(err), asked.Cookie, data)
		})
	}
}

func (asked nbdAsked) of(disk remoteDisk, data []byte, gone <-chan struct{}) error {
	offset, length := int64(asked.Offset), int64(asked.Length)
	if offset < 0 || offset > disk.size()-length {
		return unix.EINVAL
	}
	switch asked.Kind {
	case nbdRead:
		_, err := disk.read(gone, offset, data)
		return err
	case nbdWrite:
		return disk.write(gone, offset, data)
	case nbdFlush:
		return disk.flush(gone)
	case nbdTrim, nbdWriteZeroes:
		return disk.zero(gone, offset, length)
	}
	return unix.EINVAL
}

// nbdErrno is one of the numbers that the protocol has.
func nbdErrno(err error) uint32 {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOMEM):
		var errno unix.Errno
		errors.As(err, &errno)
		return uint32(errno)
	}
	return uint32(unix.EIO)
}
