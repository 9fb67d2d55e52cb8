// MinIO's sio, the implementation of DARE, as a subject: its `DecryptReaderAt`.
//
//	mkdir sio && cp Examples/subjects/subject_protocol.go Examples/subjects/real_sio.go sio && cd sio
//	go mod init subject && go get github.com/minio/sio && go build -o real_sio
//	chunkwise verify --strategy dare --subject sio/real_sio
//
// The library looks at nothing when it opens an object, so the adapter reads the last byte then. The plaintext's length
// is what `DecryptedSize` says. It takes packages of 64 KiB alone.
package main

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/minio/sio"
)

type dare struct {
	byteCount int64
	plaintext io.ReaderAt
}

func (d dare) length() int64 { return d.byteCount }

func (d dare) read(target []byte, offset int64) error {
	_, err := d.plaintext.ReadAt(target, offset)
	return named(err)
}

// named gives the library's errors the names of the protocol.
func named(err error) error {
	var known sio.Error
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return failure("truncatedCiphertext")
	}
	if !errors.As(err, &known) {
		return err
	}
	switch known.Error() {
	case "sio: unsupported version", "sio: unsupported cipher suite":
		return failure("unsupported")
	case "sio: unexpected EOF":
		return failure("truncatedCiphertext")
	}
	return failure("authenticationFailed")
}

func openDARE(r *request, key []byte, source io.ReaderAt, byteCount int64) (object, error) {
	version := byte(sio.Version20)
	if r.Version == 10 {
		version = sio.Version10
		if r.PayloadByteCount != 65536 {
			return nil, failure("unsupported")
		}
	}
	size, err := sio.DecryptedSize(uint64(byteCount))
	if err != nil {
		return nil, failure("truncatedCiphertext")
	}
	plaintext, err := sio.DecryptReaderAt(source, sio.Config{MinVersion: version, MaxVersion: version, Key: key})
	if err != nil || size == 0 {
		return dare{0, plaintext}, err
	}
	d := dare{int64(size), plaintext}
	return d, d.read(make([]byte, 1), d.byteCount-1)
}

func main() {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/minio/sio" {
				version = module.Version
			}
		}
	}
	serve("sio", version, []string{"dare", "dare-1"}, openDARE)
}
