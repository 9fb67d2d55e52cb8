// The crypt backend of rclone as a subject: its `DecryptDataSeek`, and `RangeSeek` for each read.
//
//	apt-get install golang-github-rclone-rclone-dev golang-github-coreos-go-semver-dev
//	mkdir rclone && cp Examples/subjects/subject_protocol.go Examples/subjects/real_rclone.go rclone && cd rclone
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o real_rclone
//	chunkwise verify --strategy rclone-crypt --subject rclone/real_rclone
//
// rclone takes a password and makes the key of it by scrypt, and the harness gives the key alone. So the adapter writes
// the key over the one of the package's cipher.
package main

import (
	"context"
	"errors"
	"io"
	"reflect"
	"unsafe"

	"github.com/rclone/rclone/backend/crypt"
	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/config/configmap"
	"github.com/rclone/rclone/fs/config/obscure"
)

type file struct {
	cipher    *crypt.Cipher
	source    io.ReaderAt
	stored    int64
	byteCount int64
	plaintext crypt.ReadSeekCloser
}

func (f *file) length() int64 { return f.byteCount }

func (f *file) opened(_ context.Context, offset, limit int64) (io.ReadCloser, error) {
	if limit < 0 {
		limit = f.stored - offset
	}
	return io.NopCloser(io.NewSectionReader(f.source, offset, limit)), nil
}

// header opens the stream, of which the package reads the header.
func (f *file) header() (err error) {
	f.plaintext, err = f.cipher.DecryptDataSeek(context.Background(), f.opened, 0, -1)
	return named(err)
}

func (f *file) read(target []byte, offset int64) error {
	if f.plaintext == nil {
		if err := f.header(); err != nil {
			return err
		}
	}
	_, err := f.plaintext.RangeSeek(context.Background(), offset, io.SeekStart, int64(len(target)))
	if err == nil {
		_, err = io.ReadFull(f.plaintext, target)
	}
	if err != nil {
		f.plaintext = nil // a stream that failed fails from then on
	}
	return named(err)
}

// named gives the package's errors the names of the protocol.
func named(err error) error {
	switch {
	case errors.Is(err, crypt.ErrorEncryptedBadBlock):
		return failure("authenticationFailed")
	case errors.Is(err, crypt.ErrorEncryptedBadMagic):
		return failure("invalidHeader")
	case errors.Is(err, crypt.ErrorEncryptedFileTooShort), errors.Is(err, crypt.ErrorEncryptedFileBadHeader),
		err == io.EOF, err == io.ErrUnexpectedEOF:
		return failure("truncatedCiphertext")
	}
	return err
}

func openFile(_ *request, key []byte, source io.ReaderAt, byteCount int64) (object, error) {
	cipher, err := crypt.NewCipher(configmap.Simple{
		"password": obscure.MustObscure("none"), "filename_encryption": "off", "filename_encoding": "base32"})
	if err != nil {
		return nil, err
	}
	field := reflect.ValueOf(cipher).Elem().FieldByName("dataKey")
	copy((*[32]byte)(unsafe.Pointer(field.UnsafeAddr()))[:], key)
	size, err := cipher.DecryptedSize(byteCount)
	if err != nil {
		return nil, named(err)
	}
	f := &file{cipher, source, byteCount, size, nil}
	return f, f.header()
}

func main() { serve("rclone", fs.Version, []string{"rclone-crypt"}, openFile) }
