package safetensors

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/stria-ml/stria/internal/strictjson"
)

// integers reads an array of at most most integers from 0 up.
func integers(d *json.Decoder, field string, most int) ([]int, error) {
	if err := strictjson.Delimiter(d, '['); err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	list := []int{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		number, ok := token.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%s holds %v, want integers", field, token)
		}
		n, err := strconv.ParseUint(number.String(), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("%s holds %s, want an integer from 0 to 2^%d-1", field, number, strconv.IntSize-1)
		}
		if len(list) == most {
			return nil, fmt.Errorf("%s has more than %d numbers", field, most)
		}
		list = append(list, int(n))
	}
	return list, strictjson.Delimiter(d, ']')
}
