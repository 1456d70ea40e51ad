package nn

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// KVCache keeps the keys and values of the positions that an attention layer
// has seen, so that the next ones need not compute them again. It is made of
// plain tensors outside any graph, allocated in full at the start.
type KVCache struct {
	keys, values *tensor.Tensor // (B, K, capacity, d)
	length       int

	views                *tensor.Arena  // makes the views that each position takes
	viewKeys, viewValues *tensor.Tensor // keys and values, for it to make views of
}

// KVCacheConfig describes a KVCache.
type KVCacheConfig struct {
	Batch, KVHeads, Capacity, HeadWidth int
	DType                               tensor.DType // Float32 or Float64
	Device                              tensor.Device
}

// NewKVCache returns an empty cache. Extents below 1, and ones too large to
// count, are errors.
func NewKVCache(config KVCacheConfig) (*KVCache, error) {
	b := builder{layer: "key/value cache", dtype: config.DType}
	b.size("Batch", config.Batch)
	b.size("KVHeads", config.KVHeads)
	b.size("Capacity", config.Capacity)
	b.size("HeadWidth", config.HeadWidth)
	keys := b.zeros(config.Batch, config.KVHeads, config.Capacity, config.HeadWidth)
	values := b.zeros(config.Batch, config.KVHeads, config.Capacity, config.HeadWidth)
	if b.err != nil {
		return nil, b.err
	}
	c := &KVCache{
		keys: keys.Value.ToDevice(config.Device), values: values.Value.ToDevice(config.Device),
		views: tensor.NewArena(config.Device),
	}
	c.viewKeys, c.viewValues = c.views.Alias(c.keys), c.views.Alias(c.values)
	return c, nil
}

// Len returns the number of positions in the cache; a nil cache has none.
func (c *KVCache) Len() int {
	if c == nil {
		return 0
	}
	return c.length
}

// Capacity returns the number of positions that the cache has room for.
func (c *KVCache) Capacity() int { return c.keys.Size(2) }

// Truncate forgets the positions from n on, of which there are Len.
func (c *KVCache) Truncate(n int) {
	if n < 0 || n > c.length {
		panic(&tensor.Error{Op: "key/value cache", Kind: tensor.IndexOutOfRange, Expected: c.length, Actual: n,
			Message: fmt.Sprintf("cannot keep %d of %d positions", n, c.length)})
	}
	c.length = n
}

// Grow makes room for capacity positions in all, if there is less, by a copy of
// those so far. Keys and Values from before see no later positions.
func (c *KVCache) Grow(capacity int) error {
	if capacity <= c.Capacity() {
		return nil
	}
	larger, err := NewKVCache(KVCacheConfig{
		Batch: c.keys.Size(0), KVHeads: c.keys.Size(1), Capacity: capacity, HeadWidth: c.keys.Size(3),
		DType: c.keys.DType(), Device: c.keys.Device(),
	})
	if err != nil {
		return err
	}
	larger.length = c.length
	larger.Keys().CopyFrom(c.Keys())
	larger.Values().CopyFrom(c.Values())
	*c = *larger
	return nil
}

// Keys returns the keys so far, a view (B, K, Len, d).
func (c *KVCache) Keys() *tensor.Tensor { return c.keys.Narrow(2, 0, c.length) }

// Values returns the values so far, a view (B, K, Len, d).
func (c *KVCache) Values() *tensor.Tensor { return c.values.Narrow(2, 0, c.length) }

// Append adds the keys and values of T more positions, both (B, K, T, d). More
// positions than there is room for, another shape, and operands that want a
// gradient, which would be lost, are errors of type *tensor.Error.
func (c *KVCache) Append(k, v *autograd.Var) error {
	return tensor.Catch(func() { c.append(k, v) })
}

func (c *KVCache) append(k, v *autograd.Var) {
	const op = "key/value cache"
	if k.WantsGrad() || v.WantsGrad() {
		panic(&tensor.Error{Op: op, Kind: tensor.GradientRequired,
			Message: "the cache is outside the graph and passes no gradient; use a graph made with autograd.Inference"})
	}
	c.checkShape(op, k)
	c.checkShape(op, v)
	n := k.Size(2)
	if v.Size(2) != n {
		panic(&tensor.Error{Op: op, Kind: tensor.ShapeMismatch, Expected: n, Actual: v.Size(2),
			Message: fmt.Sprintf("keys of %d positions and values of %d", n, v.Size(2))})
	}
	if n > c.Capacity()-c.length {
		panic(&tensor.Error{Op: op, Kind: tensor.IndexOutOfRange, Start: c.length, Expected: c.Capacity(), Actual: c.length + n,
			Message: fmt.Sprintf("%d positions do not fit: %d of %d are taken", n, c.length, c.Capacity())})
	}
	c.write(c.viewKeys, k, n)
	c.write(c.viewValues, v, n)
	c.length += n
}

// write copies x (B, K, n, d) to the positions after those in the cache.
func (c *KVCache) write(all *tensor.Tensor, x *autograd.Var, n int) {
	place := all.Narrow(2, c.length, n)
	x.CopyTo(place)
	c.views.Release(place)
}

func (c *KVCache) checkShape(op string, x *autograd.Var) {
	if x.Dim() != 4 || x.Size(0) != c.keys.Size(0) || x.Size(1) != c.keys.Size(1) || x.Size(3) != c.keys.Size(3) {
		panic(&tensor.Error{Op: op, Kind: tensor.ShapeMismatch,
			Message: fmt.Sprintf("shape %v does not fit a cache of shape %v", x.Shape(), c.keys.Shape())})
	}
}

// extend appends k and v and returns all keys and values on their graph.
func (c *KVCache) extend(k, v *autograd.Var) (keys, values *autograd.Var) {
	c.append(k, v)
	return c.onGraph(k.Graph(), c.viewKeys), c.onGraph(k.Graph(), c.viewValues)
}

// onGraph brings the positions so far into g.
func (c *KVCache) onGraph(g *autograd.Graph, all *tensor.Tensor) *autograd.Var {
	so := all.Narrow(2, 0, c.length)
	v := g.Const(so)
	c.views.Release(so)
	return v
}
