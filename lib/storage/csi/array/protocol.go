package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

// One JSON object a line each way. Fields that a request does not use are left out.
type request struct {
	ID         json.Number `json:"id"`
	Do         string      `json:"do"`
	Volume     string      `json:"volume"`
	Node       string      `json:"node"`
	Generation uint32      `json:"generation"`
	Loop       int         `json:"loop"`
	// KeepData: the bytes of each write go to writes.data, too.
	KeepData bool `json:"keepData"`
	// Flushes is "honest" or "ignored": an ignored flush is acknowledged and nothing else.
	Flushes string `json:"flushes"`
	Force   bool   `json:"force"`
	AfterMs int64  `json:"afterMs"`
	Why     string `json:"why"`
	// Unflushed is "keeps", "drops", "reorders" or "tears".
	Unflushed string `json:"unflushed"`
	Seed      string `json:"seed"`
	// State is "pass", "stall" or "fail".
	State   string `json:"state"`
	DelayMs int64  `json:"delayMs"`
	To      string `json:"to"`
	// Transport and Connect are of a path that its node reaches over the storage network: who serves it
	// (servers.go), and the initiator's block device, as qemu-storage-daemon reads it.
	Transport string `json:"transport"`
	Connect   string `json:"connect"`
	// How a cut is done: "cut" (default) by the array itself, else as the path's server can.
	How string `json:"how"`
	// Name is of initiators: the path's file.
	Name string `json:"name"`
}

// coded is an error that the client knows by its code.
type coded struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *coded) Error() string { return e.Code + ": " + e.Message }

func failure(code, format string, args ...any) error {
	return &coded{Code: code, Message: fmt.Sprintf(format, args...)}
}

// reply is the answer's line: the result's fields and the request's id, or the error.
func reply(id json.Number, result any, err error) []byte {
	fields := map[string]any{}
	if err != nil {
		var known *coded
		if !errors.As(err, &known) {
			known = &coded{Code: "ARRAY_FAILED", Message: err.Error()}
		}
		fields["error"] = known
	} else {
		encoded, err := json.Marshal(result)
		if err != nil {
			return reply(id, nil, err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(encoded, &members); err != nil {
			return reply(id, nil, err)
		}
		for name, value := range members {
			fields[name] = value
		}
	}
	if id != "" {
		fields["id"] = id
	}
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // Strings, numbers and raw JSON always encode.
	}
	return append(line, '\n')
}
