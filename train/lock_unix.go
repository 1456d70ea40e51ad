//go:build unix

package train

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockDir holds a folder until the file is closed or the process ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.New("another process is training this run")
		}
		return nil, err
	}
	return f, nil
}
