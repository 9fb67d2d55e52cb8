// The subject protocol for adapters in Go, whose tools take a key and an `io.ReaderAt`.
//
// An adapter calls `serve` with what it answers to `hello`, and a function that opens an object.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// A failure is an error answer, by its name.
type failure string

func (f failure) Error() string { return string(f) }

// An object knows its length, and reads ranges that end within it.
type object interface {
	length() int64
	read(target []byte, offset int64) error
}

type request struct {
	Op, Key, Strategy string
	ID, Offset, Count int64
	Protocol, Version int
	PayloadByteCount  int
	Source            struct {
		Path      *string
		ByteCount int64
	}
}

type opening func(r *request, key []byte, source io.ReaderAt, byteCount int64) (object, error)

var input, output = bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)

func send(message map[string]any, payload []byte) {
	line, _ := json.Marshal(message)
	output.Write(append(line, '\n'))
	output.Write(payload)
	if output.Flush() != nil {
		os.Exit(1)
	}
}

func receive(message any) error {
	line, err := input.ReadBytes('\n')
	if err != nil {
		os.Exit(0)
	}
	if json.Unmarshal(line, message) != nil {
		return failure("invalidRequest")
	}
	return nil
}

// served is a ciphertext that the harness sends, by its length.
type served int64

func (s served) ReadAt(target []byte, offset int64) (done int, err error) {
	if offset >= int64(s) {
		return 0, io.EOF
	}
	if int64(len(target)) > int64(s)-offset {
		target, err = target[:int64(s)-offset], io.EOF
	}
	for done < len(target) {
		var answer struct {
			OK      bool
			Payload int
		}
		send(map[string]any{"need": map[string]any{"offset": offset + int64(done), "count": len(target) - done}}, nil)
		if receive(&answer) != nil || !answer.OK {
			return done, failure("io")
		}
		if answer.Payload == 0 {
			return done, failure("truncatedCiphertext")
		}
		if _, err := io.ReadFull(input, target[done:done+answer.Payload]); err != nil {
			os.Exit(1)
		}
		done += answer.Payload
	}
	return done, err
}

func open(r *request, strategies []string, by opening) (object, error) {
	isKnown := false
	for _, strategy := range strategies {
		isKnown = isKnown || strategy == r.Strategy
	}
	if !isKnown {
		return nil, failure("unsupported")
	}
	key, err := hex.DecodeString(r.Key)
	if err != nil {
		return nil, failure("invalidRequest")
	}
	if len(key) != 32 {
		return nil, failure("invalidKey")
	}
	if r.Source.Path == nil {
		return by(r, key, served(r.Source.ByteCount), r.Source.ByteCount)
	}
	file, err := os.Open(*r.Source.Path)
	if err != nil {
		return nil, failure("io")
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, failure("io")
	}
	return by(r, key, file, size)
}

func read(item object, offset, count int64) ([]byte, error) {
	rest := item.length() - offset
	if rest < 0 {
		return nil, failure("rangeOutOfBounds")
	}
	if count > rest {
		count = rest
	}
	data := make([]byte, count)
	if count == 0 {
		return data, nil
	}
	return data, item.read(data, offset)
}

// serve answers requests until `bye` or the end of input, for objects with keys of 32 bytes.
func serve(name, version string, strategies []string, by opening) {
	objects := map[int64]object{}
	for {
		r, members, payload := request{}, map[string]any{"ok": true}, []byte(nil)
		err := receive(&r)
		item, has := objects[r.ID]
		switch {
		case err != nil:
		case r.Op == "hello" && r.Protocol != 1:
			err = failure("unsupported")
		case r.Op == "hello":
			members["protocol"], members["name"], members["version"] = 1, name, version
			members["strategies"], members["keyByteCounts"] = strategies, []int{32}
			members["sources"], members["granularity"] = []string{"path", "served"}, "chunk"
			members["measures"] = false
		case r.Op == "bye":
		case r.Op == "open" && !has:
			if item, err = open(&r, strategies, by); err == nil {
				objects[r.ID], members["plaintextByteCount"] = item, item.length()
			}
		case r.Op == "read" && has && r.Offset >= 0 && r.Count >= 0:
			payload, err = read(item, r.Offset, r.Count)
			members["payload"] = len(payload)
		case r.Op == "close" && has:
			delete(objects, r.ID)
		default:
			err = failure("invalidRequest")
		}
		if err != nil {
			kind := failure("internal")
			errors.As(err, &kind)
			members, payload = map[string]any{"ok": false, "error": kind, "message": err.Error()}, nil
		}
		send(members, payload)
		if r.Op == "bye" {
			return
		}
	}
}
