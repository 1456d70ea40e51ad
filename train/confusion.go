package train

import "encoding/json"

// Confusion counts how images of each class were classified.
type Confusion struct {
	Classes []string // their names
	Counts  [][]int  // Counts[t][p] images of class t were taken for class p
}

// NewConfusion returns counts of 0.
func NewConfusion(classes []string) *Confusion {
	c := &Confusion{Classes: classes, Counts: make([][]int, len(classes))}
	for t := range c.Counts {
		c.Counts[t] = make([]int, len(classes))
	}
	return c
}

// Of returns how many images of class t there were, and how many were right.
func (c *Confusion) Of(t int) (count, right int) {
	for _, n := range c.Counts[t] {
		count += n
	}
	return count, c.Counts[t][t]
}

// classLine is what files say of a class.
type classLine struct {
	Name     string  `json:"name"`
	Count    int     `json:"count"`
	Exact    int     `json:"exact"`
	Accuracy *number `json:"accuracy"` // null where there is no image
}

// confusionLine is what files say of a confusion matrix.
type confusionLine struct {
	Classes []classLine `json:"classes"`
	Matrix  [][]int     `json:"confusion"` // a row for each true class, a column for each answer
}

func (c *Confusion) line() confusionLine {
	l := confusionLine{Matrix: c.Counts}
	for t, name := range c.Classes {
		line := classLine{Name: name}
		line.Count, line.Exact = c.Of(t)
		if line.Count > 0 {
			accuracy := number(float64(line.Exact) / float64(line.Count))
			line.Accuracy = &accuracy
		}
		l.Classes = append(l.Classes, line)
	}
	return l
}

// MarshalJSON writes each class with its accuracy, and the matrix.
func (c *Confusion) MarshalJSON() ([]byte, error) { return json.Marshal(c.line()) }
