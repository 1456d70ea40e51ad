package images

import "testing"

func TestCIFAR10(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"} {
		write(t, dir, name, cifarRecord(i, byte(9-i)))
	}
	write(t, dir, "test_batch.bin", append(cifarRecord(7, 3), cifarRecord(8, 0)...))
	train, err := OpenCIFAR10(dir, Train)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, train, []int{9, 8, 7, 6, 5}, count(0, 3072), count(1, 3072), count(2, 3072), count(3, 3072), count(4, 3072))
	test, err := OpenCIFAR10(dir, Test)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, test, []int{3, 0}, count(7, 3072), count(8, 3072))
	if test.Shape() != (Shape{3, 32, 32}) || len(test.Classes()) != 10 || test.Classes()[9] != "truck" {
		t.Errorf("shape %v, classes %v", test.Shape(), test.Classes())
	}
}

// TestCIFAR100 reads a compressed file in the folder that the archive makes.
func TestCIFAR100(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "cifar-100-binary/test.bin", zipped(append(cifarRecord(1, 19, 99), cifarRecord(2, 0, 4)...)))
	s, err := OpenCIFAR100(dir, Test)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, s, []int{99, 4}, count(1, 3072), count(2, 3072))
	if len(s.Classes()) != 100 || s.Classes()[99] != "worm" || s.Classes()[4] != "beaver" {
		t.Errorf("classes %v", s.Classes())
	}
}
