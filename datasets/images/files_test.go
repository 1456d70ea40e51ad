package images

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRealMNIST reads the published test part: 10,000 digits, whose labels are
// known by number.
func TestRealMNIST(t *testing.T) {
	folder := os.Getenv("STRIA_TESTFILES")
	if folder == "" {
		t.Skip("STRIA_TESTFILES names no folder of real files")
	}
	dir := filepath.Join(folder, "mnist-t10k")
	s, err := OpenMNIST(dir, Test)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 10_000 || s.Shape() != (Shape{1, 28, 28}) {
		t.Fatalf("%d images of %s", s.Len(), s.Shape())
	}
	var counts [10]int
	var first []int
	for n := range s.Len() {
		counts[s.Label(n)]++
		if n < 10 {
			first = append(first, s.Label(n))
		}
	}
	if counts != [10]int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009} {
		t.Errorf("labels %v", counts)
	}
	if !slices.Equal(first, []int{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}) {
		t.Errorf("first labels %v", first)
	}
	// The customary numbers are of the training part, which is much alike.
	n, err := MeasureNormalization(s)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := FixedNormalization("mnist")
	if err != nil {
		t.Fatal(err)
	}
	if d := n.Mean[0] - fixed.Mean[0]; d < -0.005 || d > 0.005 {
		t.Errorf("mean %v, and of the training part %v", n.Mean[0], fixed.Mean[0])
	}
	if d := n.Std[0] - fixed.Std[0]; d < -0.005 || d > 0.005 {
		t.Errorf("deviation %v, and of the training part %v", n.Std[0], fixed.Std[0])
	}

	_, err = OpenMNIST(dir, Train) // whose images are not there
	wantKind(t, err, ErrOpen)
	labels := filepath.Join(dir, "train-labels-idx1-ubyte.gz")
	_, err = OpenIDX(filepath.Join(dir, "t10k-images-idx3-ubyte.gz"), labels, IDXConfig{})
	wantKind(t, err, ErrCount)
	_, err = OpenIDX(labels, labels, IDXConfig{})
	wantKind(t, err, ErrSwapped)
}
