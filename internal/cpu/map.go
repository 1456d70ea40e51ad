package cpu

// The bodies below run a kernel that knows only neighbouring elements over a
// loop of any strides. Runs whose elements are neighbours go to the kernel
// whole; others are packed block by block, or tile by tile if the job is tiled.

// map0 runs f over positions lo to hi of a loop with only a destination.
func map0[D any](j *job, lo, hi int, f func(dst []D, pos int)) {
	dst := elements[D](j.bytes[0])
	step := j.loop.Step()[0]
	if step == 1 {
		for r := j.loop.Range(lo, hi); r.Next(); {
			f(dst[r.Off[0]:r.Off[0]+r.N], r.Pos)
		}
		return
	}
	s := packRooms.get()
	defer packRooms.keep(s)
	bd := room[D](s, 0)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n := min(block, r.N-i)
			f(bd[:n], r.Pos+i)
			unpack(dst, bd[:n], r.Off[0]+i*step, step)
		}
	}
}

// map1 runs f over positions lo to hi of a loop with one input.
func map1[D, X any](j *job, lo, hi int, f func(dst []D, x []X)) {
	if j.tiled {
		map1Tiles(j, lo, hi, f)
		return
	}
	dst, x := elements[D](j.bytes[0]), elements[X](j.bytes[1])
	step := j.loop.Step()
	if step[0] == 1 && step[1] == 1 {
		for r := j.loop.Range(lo, hi); r.Next(); {
			f(dst[r.Off[0]:r.Off[0]+r.N], x[r.Off[1]:r.Off[1]+r.N])
		}
		return
	}
	s := packRooms.get()
	defer packRooms.keep(s)
	bd, bx := room[D](s, 0), room[X](s, 1)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n := min(block, r.N-i)
			d := place(bd, dst, r.Off[0]+i*step[0], step[0], n)
			f(d, pack(bx, x, r.Off[1]+i*step[1], step[1], n))
			unpack(dst, d, r.Off[0]+i*step[0], step[0])
		}
	}
}

// map2 runs f over positions lo to hi of a loop with two inputs.
func map2[D, X any](j *job, lo, hi int, f func(dst []D, x, y []X)) {
	if j.tiled {
		map2Tiles(j, lo, hi, f)
		return
	}
	dst, x, y := elements[D](j.bytes[0]), elements[X](j.bytes[1]), elements[X](j.bytes[2])
	step := j.loop.Step()
	if step[0] == 1 && step[1] == 1 && step[2] == 1 {
		for r := j.loop.Range(lo, hi); r.Next(); {
			f(dst[r.Off[0]:r.Off[0]+r.N], x[r.Off[1]:r.Off[1]+r.N], y[r.Off[2]:r.Off[2]+r.N])
		}
		return
	}
	s := packRooms.get()
	defer packRooms.keep(s)
	bd, bx, by := room[D](s, 0), room[X](s, 1), room[X](s, 2)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n := min(block, r.N-i)
			d := place(bd, dst, r.Off[0]+i*step[0], step[0], n)
			f(d, pack(bx, x, r.Off[1]+i*step[1], step[1], n), pack(by, y, r.Off[2]+i*step[2], step[2], n))
			unpack(dst, d, r.Off[0]+i*step[0], step[0])
		}
	}
}
