package train

import "strconv"

// appendFloat appends f as a JSON number of the fewest digits.
func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'g', -1, 64) }
