//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package train

import (
	"errors"
	"os"
	"syscall"
)

// lockDir holds a folder until the file is closed or the process ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.New("another process is training this run")
		}
		return nil, err
	}
	return f, nil
}
