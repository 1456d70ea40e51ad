package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
)

// sameModel refuses a model that is not the one of the run's config.json, if
// there is one above the checkpoint's folder.
func sameModel[C any](checkpoint string, model C, read func(path string) (C, error)) error {
	path := filepath.Join(filepath.Dir(filepath.Dir(checkpoint)), configFile)
	config, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", checkpoint, err)
	}
	was, is := reflect.ValueOf(config), reflect.ValueOf(model)
	for i := range was.NumField() {
		if a, b := was.Field(i).Interface(), is.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s: its config.json is not the run's: %s is %v, in %s %v", checkpoint, was.Type().Field(i).Name, b, path, a)
		}
	}
	return nil
}
