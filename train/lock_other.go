//go:build !unix

package train

import "os"

// lockDir opens the folder: it cannot be held everywhere.
func lockDir(dir string) (*os.File, error) { return os.Open(dir) }
