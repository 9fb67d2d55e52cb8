// Go's `crypto/aes` and `crypto/cipher` as a subject: CBC and CTR, served and from files, with measurements.
//
//	chunkwise verify --subject 'go run Examples/subjects/go_crypto.go'
package main

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"time"
)

// A failure is an error answer, by its name.
type failure string

const (
	invalidRequest      failure = "invalidRequest"
	unsupported         failure = "unsupported"
	invalidKey          failure = "invalidKey"
	invalidIV           failure = "invalidIV"
	sourceFailed        failure = "io"
	truncatedCiphertext failure = "truncatedCiphertext"
	invalidPadding      failure = "invalidPadding"
	rangeOutOfBounds    failure = "rangeOutOfBounds"
)

func (f failure) Error() string { return string(f) }

// Messages

var (
	input  = bufio.NewReader(os.Stdin)
	output = bufio.NewWriter(os.Stdout)
)

type answer map[string]any

func send(message answer, payload []byte) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	output.Write(append(line, '\n'))
	output.Write(payload)
	if output.Flush() != nil {
		os.Exit(1)
	}
}

// receive reads a line, and says how many bytes of payload follow it.
func receive() (*request, int64) {
	line, err := input.ReadBytes('\n')
	if err != nil {
		os.Exit(0)
	}
	message := parse(line)
	if _, has := message.members["payload"]; !has {
		return message, 0
	}
	return message, message.integer("payload", 0)
}

func discard(payload int64) {
	if _, err := io.CopyN(io.Discard, input, payload); err != nil {
		os.Exit(1)
	}
}

// A request is a JSON object. Its members are taken one by one; isBad tells whether any was not what it should be.
type request struct {
	members map[string]json.RawMessage
	isBad   bool
}

func parse(text []byte) *request {
	r := &request{}
	r.isBad = json.Unmarshal(text, &r.members) != nil || r.members == nil
	return r
}

func (r *request) check(isGood bool) {
	r.isBad = r.isBad || !isGood
}

func (r *request) integer(name string, least int64) int64 {
	return r.number(r.members[name], least)
}

func (r *request) number(text json.RawMessage, least int64) int64 {
	value, err := strconv.ParseUint(string(text), 10, 53)
	r.check(err == nil && int64(value) >= least)
	return int64(value)
}

func (r *request) text(name string) (value string) {
	text := r.members[name]
	r.check(len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &value) == nil)
	return value
}

func (r *request) choice(name string, choices ...string) string {
	value := r.text(name)
	for _, choice := range choices {
		if value == choice {
			return value
		}
	}
	r.isBad = true
	return ""
}

func (r *request) hexadecimal(name string) []byte {
	text := r.text(name)
	value, err := hex.DecodeString(text)
	r.check(err == nil && hex.EncodeToString(value) == text)
	return value
}

// Sources: a file is one already.

type source interface {
	io.ReaderAt
	io.Closer
}

func openFile(path string) (source, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %v", sourceFailed, err)
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, 0, fmt.Errorf("%w: no regular file", sourceFailed)
	}
	return file, info.Size(), nil
}

// A served source is the harness.
type served struct{}

func (served) Close() error { return nil }

func (served) ReadAt(target []byte, offset int64) (int, error) {
	for done := 0; done < len(target); {
		rest := target[done:]
		send(answer{"need": answer{"offset": offset + int64(done), "count": len(rest)}}, nil)
		message, count := receive()
		switch {
		case string(message.members["ok"]) != "true":
			discard(count)
			return done, errors.New("not served")
		case count == 0:
			return done, io.EOF
		case count > int64(len(rest)):
			os.Exit(1)
		}
		if _, err := io.ReadFull(input, rest[:count]); err != nil {
			os.Exit(1)
		}
		done += int(count)
	}
	return len(target), nil
}

// An object is a source with a key. CTR and continuous CBC are one chunk without end.
type object struct {
	source     source
	cipher     cipher.Block
	isCTR      bool
	iv         []byte
	ivStep     int64 // from one chunk's IV to the next one's
	chunk, pad int64 // bytes of a full chunk, and of the padding behind it
	length     int64 // of the plaintext
	buffer     []byte
}

func open(r *request) (*object, error) {
	var path string
	var byteCount int64
	description := parse(r.members["source"])
	_, isFile := description.members["path"]
	if isFile {
		path = description.text("path")
	} else {
		byteCount = description.integer("byteCount", 0)
	}
	r.check(!description.isBad)
	strategy := r.text("strategy")
	if r.isBad {
		return nil, invalidRequest
	}
	switch strategy {
	case "cbc-continuous", "cbc-chunked", "ctr":
	default:
		return nil, unsupported
	}
	key := r.hexadecimal("key")
	o := &object{source: served{}, isCTR: strategy == "ctr", iv: r.hexadecimal("iv"), chunk: 1 << 62}
	if !o.isCTR && r.choice("padding", "pkcs7", "none") == "pkcs7" {
		o.pad = aes.BlockSize
	}
	if strategy == "cbc-chunked" {
		o.chunk = r.integer("chunkByteCount", aes.BlockSize)
		r.check(o.chunk%aes.BlockSize == 0)
		if r.choice("ivRule", "fixed", "sequence") == "sequence" {
			o.ivStep = 1
		}
	}
	if r.isBad {
		return nil, invalidRequest
	}
	var err error
	if o.cipher, err = aes.NewCipher(key); err != nil {
		return nil, invalidKey
	}
	if len(o.iv) != aes.BlockSize {
		return nil, invalidIV
	}
	if isFile {
		if o.source, byteCount, err = openFile(path); err != nil {
			return nil, err
		}
	}
	if o.length, err = o.plaintextByteCount(byteCount); err != nil {
		o.source.Close()
		return nil, err
	}
	return o, nil
}

func (o *object) plaintextByteCount(byteCount int64) (int64, error) {
	if !o.isCTR && (byteCount%aes.BlockSize != 0 || o.pad > 0 && byteCount == 0) {
		return 0, truncatedCiphertext
	}
	if o.pad == 0 {
		return byteCount, nil
	}
	last := (byteCount - 1) / (o.chunk + o.pad)
	size := byteCount - last*(o.chunk+o.pad)
	iv, end := o.ivPlus(last*o.ivStep), make([]byte, 2*aes.BlockSize)
	if size == aes.BlockSize {
		end = end[aes.BlockSize:]
	}
	if err := o.fetch(end, byteCount-int64(len(end))); err != nil {
		return 0, err
	}
	if size > aes.BlockSize {
		iv, end = end[:aes.BlockSize], end[aes.BlockSize:]
	}
	o.decrypt(iv, end)
	count := int(end[aes.BlockSize-1])
	if count < 1 || count > aes.BlockSize || !bytes.HasSuffix(end, bytes.Repeat([]byte{byte(count)}, count)) {
		return 0, invalidPadding
	}
	size -= int64(count)
	if size > o.chunk || size == 0 && last > 0 {
		return 0, invalidPadding
	}
	return last*o.chunk + size, nil
}

// ivPlus adds to the object's IV, modulo 2¹²⁸.
func (o *object) ivPlus(number int64) []byte {
	sum := make([]byte, aes.BlockSize)
	low, carry := bits.Add64(binary.BigEndian.Uint64(o.iv[8:]), uint64(number), 0)
	binary.BigEndian.PutUint64(sum, binary.BigEndian.Uint64(o.iv)+carry)
	binary.BigEndian.PutUint64(sum[8:], low)
	return sum
}

func (o *object) fetch(target []byte, offset int64) error {
	count, err := o.source.ReadAt(target, offset)
	switch {
	case count == len(target):
		return nil
	case err == io.EOF:
		return truncatedCiphertext
	default:
		return fmt.Errorf("%w: %v", sourceFailed, err)
	}
}

// decrypt works in place.
func (o *object) decrypt(iv, data []byte) {
	if o.isCTR {
		cipher.NewCTR(o.cipher, iv).XORKeyStream(data, data)
	} else {
		cipher.NewCBCDecrypter(o.cipher, iv).CryptBlocks(data, data)
	}
}

// read delivers plaintext that is good until the next read, which takes the same buffer. It fetches at once what it
// needs: the block before the range and the padding between chunks are part of it.
func (o *object) read(offset, count int64) ([]byte, error) {
	if offset > o.length {
		return nil, rangeOutOfBounds
	}
	if count > o.length-offset {
		count = o.length - offset
	}
	if count == 0 {
		return nil, nil
	}
	first, end := offset-offset%aes.BlockSize, offset+count // of the plaintext
	if !o.isCTR {
		end += -end & (aes.BlockSize - 1)
	}
	from, to := first+first/o.chunk*o.pad, end+(end-1)/o.chunk*o.pad // of the ciphertext
	before := int64(0)
	if !o.isCTR && first%o.chunk > 0 {
		before = aes.BlockSize
	}
	size := before + to - from
	if int64(cap(o.buffer)) < size {
		o.buffer = make([]byte, size)
	}
	buffer := o.buffer[:size]
	if err := o.fetch(buffer, from-before); err != nil {
		return nil, err
	}
	iv, data := buffer[:before], buffer[before:]
	if o.isCTR {
		iv = o.ivPlus(first / aes.BlockSize)
	}
	for at := first; at < end; {
		chunk := at / o.chunk
		if !o.isCTR && at%o.chunk == 0 {
			iv = o.ivPlus(chunk * o.ivStep)
		}
		stop := (chunk + 1) * o.chunk
		if stop > end {
			stop = end
		}
		shift := chunk*o.pad + first - from // the padding so far
		part := data[at-first+shift : stop-first+shift]
		o.decrypt(iv, part)
		copy(data[at-first:], part)
		at = stop
	}
	return data[offset-first:][:count], nil
}

// Measurements

// A plan is the reads of an iteration, how many, and their offsets and counts. Indices go on in the next iteration.
type plan struct {
	reads int64
	read  func(index int64) (offset, count int64)
}

func (o *object) plan(workload *request) (plan, error) {
	switch workload.choice("kind", "sequential", "random", "trace") {
	case "sequential":
		window := workload.integer("windowByteCount", 1)
		if workload.isBad {
			return plan{}, invalidRequest
		}
		return plan{(o.length + window - 1) / window, func(index int64) (int64, int64) {
			return index % ((o.length + window - 1) / window) * window, window
		}}, nil
	case "random":
		count := workload.integer("rangeByteCount", 1)
		seed, reads := uint64(workload.integer("seed", 0)), workload.integer("reads", 0)
		first := uint64(0)
		if _, has := workload.members["firstDraw"]; has {
			first = uint64(workload.integer("firstDraw", 0))
		}
		if workload.isBad {
			return plan{}, invalidRequest
		}
		if count > o.length {
			return plan{}, rangeOutOfBounds
		}
		return plan{reads, func(index int64) (int64, int64) {
			z := seed + (first+uint64(index)+1)*0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			return int64((z ^ z>>31) % uint64(o.length-count+1)), count
		}}, nil
	case "trace":
		var pairs [][]json.RawMessage
		text := workload.members["ranges"]
		workload.check(json.Unmarshal(text, &pairs) == nil && pairs != nil)
		ranges := make([][2]int64, len(pairs))
		for index, pair := range pairs {
			if len(pair) != 2 {
				return plan{}, invalidRequest
			}
			ranges[index] = [2]int64{workload.number(pair[0], 0), workload.number(pair[1], 0)}
		}
		if workload.isBad {
			return plan{}, invalidRequest
		}
		return plan{int64(len(ranges)), func(index int64) (int64, int64) {
			range_ := ranges[index%int64(len(ranges))]
			return range_[0], range_[1]
		}}, nil
	}
	return plan{}, invalidRequest
}

func (o *object) measure(r *request) (answer, error) {
	collect := r.choice("collect", "digest", "time", "latencies")
	var least, most int64
	if collect == "time" {
		least, most = r.integer("minimumNanoseconds", 0), r.integer("maximumIterations", 1)
	}
	if r.isBad {
		return nil, invalidRequest
	}
	plan, err := o.plan(parse(r.members["workload"]))
	if err != nil {
		return nil, err
	}
	switch collect {
	case "digest":
		hash, delivered := sha256.New(), 0
		for index := int64(0); index < plan.reads; index++ {
			data, err := o.read(plan.read(index))
			if err != nil {
				return nil, err
			}
			hash.Write(data)
			delivered += len(data)
		}
		return answer{"digest": hex.EncodeToString(hash.Sum(nil)), "deliveredByteCount": delivered}, nil
	case "latencies":
		latencies := make([]int64, plan.reads)
		for index := range latencies {
			offset, count := plan.read(int64(index))
			start := time.Now()
			if _, err := o.read(offset, count); err != nil {
				return nil, err
			}
			latencies[index] = time.Since(start).Nanoseconds()
		}
		return answer{"latencies": latencies}, nil
	default:
		var samples []int64
		for sum := int64(0); len(samples) == 0 || sum < least && int64(len(samples)) < most; {
			start := time.Now()
			for index := int64(0); index < plan.reads; index++ {
				if _, err := o.read(plan.read(int64(len(samples))*plan.reads + index)); err != nil {
					return nil, err
				}
			}
			samples = append(samples, time.Since(start).Nanoseconds())
			sum += samples[len(samples)-1]
		}
		return answer{"nanoseconds": samples}, nil
	}
}

// Requests

var objects = map[int64]*object{}

func respond(r *request) (answer, []byte, error) {
	op := r.choice("op", "hello", "open", "read", "measure", "close", "bye")
	switch op {
	case "hello":
		protocol := r.integer("protocol", 0)
		if r.isBad {
			return nil, nil, invalidRequest
		}
		if protocol != 1 {
			return nil, nil, unsupported
		}
		return answer{
			"protocol": 1, "name": "go-crypto", "version": runtime.Version(),
			"strategies":    []string{"cbc-continuous", "cbc-chunked", "ctr"},
			"keyByteCounts": []int{16, 24, 32}, "sources": []string{"path", "served"},
			"granularity": "block", "measures": true,
		}, nil, nil
	case "bye":
		return answer{}, nil, nil
	}
	id := r.integer("id", 0)
	o, isOpen := objects[id]
	if r.isBad || isOpen == (op == "open") {
		return nil, nil, invalidRequest
	}
	switch op {
	case "open":
		o, err := open(r)
		if err != nil {
			return nil, nil, err
		}
		objects[id] = o
		return answer{"plaintextByteCount": o.length}, nil, nil
	case "read":
		offset, count := r.integer("offset", 0), r.integer("count", 0)
		if r.isBad {
			return nil, nil, invalidRequest
		}
		data, err := o.read(offset, count)
		return answer{"payload": len(data)}, data, err
	case "measure":
		measured, err := o.measure(r)
		return measured, nil, err
	default:
		delete(objects, id)
		return answer{}, nil, o.source.Close()
	}
}

func main() {
	for {
		r, payload := receive()
		discard(payload)
		message, data, err := respond(r)
		if err != nil {
			name := failure("internal")
			errors.As(err, &name)
			send(answer{"ok": false, "error": name, "message": err.Error()}, nil)
			continue
		}
		message["ok"] = true
		send(message, data)
		if r.text("op") == "bye" {
			return
		}
	}
}
