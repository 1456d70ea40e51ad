package tensor

import (
	"math/bits"

	"github.com/stria-ml/stria/internal/backend"
)

// Arena hands out tensors whose memory it takes back and uses again: a graph's
// intermediates. It serves one goroutine.
//
// A tensor is the arena's if one of the arena's methods made it, or a view
// operation from a tensor that the arena holds and did not expose. It then holds
// its storage until Drop or Release. When the last holder of one of the
// arena's own storages lets go, its bytes return to the arena, and whoever still
// has a tensor over them gets a Closed error at the next use. Storages of others,
// such as a parameter's, can be held and are never taken back. Headers and
// storages that were never exposed are reused as well, so that a steady state
// allocates nothing.
type Arena struct {
	device   backend.Device
	blocks   [sizeClasses][]backend.Memory // free memory
	headers  []*Tensor
	storages []*Storage
	live     []*Storage // whose bytes are in use
	held     int        // bytes in use
	peak     int
	reserved int // bytes got from the device
}

// NewArena returns an arena on a device.
func NewArena(device Device) *Arena {
	return &Arena{device: device.backend()}
}

// Device returns the device whose memory the arena hands out.
func (a *Arena) Device() Device { return Device{a.device} }

// Held returns the bytes in use now.
func (a *Arena) Held() int { return a.held }

// Peak returns the most bytes that were in use at a time.
func (a *Arena) Peak() int { return a.peak }

// Reserved returns the bytes that the arena has from its device, in use or not.
func (a *Arena) Reserved() int { return a.reserved }

// Empty returns a contiguous tensor with unspecified contents.
func (a *Arena) Empty(dtype DType, shape ...int) *Tensor {
	checkDType("empty", dtype)
	size := count("empty", shape)
	t := a.header(a.storage(mul("empty", "the byte count", size, dtype.Size())))
	t.init(dtype, shape, size)
	return t
}

// EmptyLike returns a tensor of t's shape and dtype with unspecified contents.
// Where t's elements lie dense, in whatever order of dims, the new tensor has
// the same strides, so that views of the one have equal views of the other.
func (a *Arena) EmptyLike(t *Tensor) *Tensor {
	like := a.Empty(present("empty", t).dtype, t.shape()...)
	if !t.contiguous && isDense(t.shape(), t.strides()) {
		copy(like.strides(), t.strides())
		like.contiguous = false
	}
	return like
}

// Alias returns a new tensor of the arena with t's storage and layout: one holder
// more, to be released for itself. t may be anybody's and is left as it is.
func (a *Arena) Alias(t *Tensor) *Tensor {
	present("alias", t).storage.alive("alias")
	alias := a.header(t.storage)
	alias.storage, alias.dtype, alias.offset, alias.size, alias.contiguous = t.storage, t.dtype, t.offset, t.size, t.contiguous
	alias.setDims(t.shape(), t.strides())
	return alias
}

// Adopt returns a tensor of the arena for t, to be released once: t itself where
// it is the arena's and holds its storage, with no holder more, and an Alias of
// it otherwise. It is for the results of view operations, which are the arena's
// where their operand is.
func (a *Arena) Adopt(t *Tensor) *Tensor {
	if present("adopt", t).arena == a && !t.dropped {
		return t
	}
	return a.Alias(t)
}

// Expose marks t and its storage as handed out to a caller who may keep t longer
// than the arena holds it. Neither header nor storage object is used again after
// that, though the bytes are: the caller's t answers with Closed, and never shows
// another tensor's values.
func (a *Arena) Expose(t *Tensor) { present("expose", t).expose() }

// Release ends t's hold on its storage, unless Drop did, and t itself: its header
// is used again, or left to the caller if it was exposed. Nil, tensors of others
// and tensors that were released are left alone.
func (a *Arena) Release(t *Tensor) {
	if t == nil || t.arena != a {
		return
	}
	a.Drop(t)
	t.arena = nil
	if !t.exposed {
		*t = Tensor{dims: t.dims, room: t.room}
		a.headers = append(a.headers, t)
	}
}

// givenBack stands in for the storage of dropped tensors.
var givenBack = func() *Storage {
	s := &Storage{device: cpuDevice}
	s.released.Store(true)
	return s
}()

// Drop ends t's hold on its storage, as Release does, but t stays the arena's: its
// shape, strides and dtype can be read until Release, which must follow. Backward
// needs the shapes of values whose memory is gone.
func (a *Arena) Drop(t *Tensor) {
	if t == nil || t.arena != a || t.dropped {
		return
	}
	s := t.storage
	t.dropped = true
	if !t.exposed {
		t.storage = givenBack
	}
	if s.arena != a {
		return
	}
	if s.holders--; s.holders == 0 {
		a.takeBack(s)
	}
}

// Holders returns how many tensors hold t's storage, 0 if it is not the arena's.
func (a *Arena) Holders(t *Tensor) int {
	if t.storage.arena != a {
		return 0
	}
	return t.storage.holders
}

// Alone reports whether nobody but t has its memory: t alone holds it, and it was
// never exposed.
func (a *Arena) Alone(t *Tensor) bool {
	s := present("alone", t).storage
	return !t.dropped && s.arena == a && s.holders == 1 && !s.exposed
}

// takeBack recycles a storage without holders.
func (a *Arena) takeBack(s *Storage) {
	class, _ := sizeClass(s.bytes)
	a.blocks[class] = append(a.blocks[class], s.mem)
	a.held -= s.bytes
	last := len(a.live) - 1
	a.live[s.place], a.live[last].place = a.live[last], s.place
	a.live[last] = nil
	a.live = a.live[:last]
	s.released.Store(true)
	s.mem, s.arena = nil, nil
	if !s.exposed {
		a.storages = append(a.storages, s)
	}
}

// header returns a blank header over s, and counts it as a holder.
func (a *Arena) header(s *Storage) *Tensor {
	var t *Tensor
	if n := len(a.headers); n > 0 {
		t = a.headers[n-1]
		a.headers = a.headers[:n-1]
	} else {
		t = newHeader(MaxDims)
	}
	t.arena, t.storage = a, s
	if s.arena == a {
		s.holders++
	}
	return t
}

// storage returns a storage of that many bytes without holders.
func (a *Arena) storage(bytes int) *Storage {
	var s *Storage
	if n := len(a.storages); n > 0 {
		s = a.storages[n-1]
		a.storages = a.storages[:n-1]
		s.version.Add(1) // a version of the former use is no version of this one
		s.released.Store(false)
	} else {
		s = new(Storage)
	}
	s.device, s.mem, s.bytes, s.arena, s.holders = a.device, a.block(bytes), bytes, a, 0
	s.place = len(a.live)
	a.live = append(a.live, s)
	a.held += bytes
	a.peak = max(a.peak, a.held)
	return s
}

// block returns free or new memory of at least that many bytes.
func (a *Arena) block(bytes int) backend.Memory {
	class, size := sizeClass(bytes)
	if free := a.blocks[class]; len(free) > 0 {
		a.blocks[class] = free[:len(free)-1]
		return free[len(free)-1]
	}
	mem, err := a.device.Alloc(size)
	if err != nil {
		fail("empty", InvalidArgument, "allocation of %d bytes on %s: %v", size, a.device.Name(), err)
	}
	a.reserved += size
	return mem
}

// Reclaim takes back all storages that are still in use, whoever holds them, and
// returns how many: an operation that panics leaves tensors that nobody releases.
// Nothing of the arena may be used after it. Where all was released, it is 0.
func (a *Arena) Reclaim() int {
	n := len(a.live)
	for len(a.live) > 0 {
		s := a.live[len(a.live)-1]
		s.exposed = true // lost headers still point at it
		s.holders = 0
		a.takeBack(s)
	}
	return n
}

// Trim drops free memory to the device.
func (a *Arena) Trim() {
	for class, free := range a.blocks {
		for _, mem := range free {
			a.reserved -= mem.Len()
		}
		a.blocks[class] = nil
	}
}

// sizeClasses is more than there are classes of an int.
const sizeClasses = 4 * bits.UintSize

// sizeClass rounds bytes up to the next of four steps per power of two, at
// least 64, and numbers the steps.
func sizeClass(bytes int) (class, size int) {
	if bytes <= 64 {
		return 0, 64
	}
	shift := bits.Len(uint(bytes-1)) - 3
	steps := (bytes-1)>>shift + 1 // 5 to 8
	return 4*(shift-4) + steps - 4, steps << shift
}

// isDense reports whether a layout covers consecutive elements once each, in
// any order of dims.
func isDense(shape, strides []int) bool {
	var done uint32
	expected := 1
	for range shape {
		next := -1
		for axis := range shape {
			if done&(1<<axis) == 0 && (shape[axis] == 1 || strides[axis] == expected) {
				next = axis
				break
			}
		}
		if next < 0 {
			return false
		}
		done |= 1 << next
		expected *= shape[next]
	}
	return true
}
