package gqa

import (
	"fmt"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Cache keeps the keys and values of a model's layers for the tokens so far. It
// comes from NewCache.
type Cache struct {
	layers []*nn.KVCache
}

// NewCache returns an empty cache for batch sequences of up to capacity tokens.
func (m *Model) NewCache(batch, capacity int) (*Cache, error) {
	weight := m.Embed.Weight.Value
	c := &Cache{}
	for range m.Layers {
		layer, err := nn.NewKVCache(nn.KVCacheConfig{
			Batch: batch, KVHeads: m.Config.NumKeyValueHeads, Capacity: capacity, HeadWidth: m.Config.HeadDim,
			DType: weight.DType(), Device: weight.Device(),
		})
		if err != nil {
			return nil, err
		}
		c.layers = append(c.layers, layer)
	}
	return c, nil
}

// Len returns the number of tokens in the cache; a nil cache has none.
func (c *Cache) Len() int {
	if c == nil {
		return 0
	}
	return c.layers[0].Len()
}

// Truncate forgets the tokens from n on.
func (c *Cache) Truncate(n int) {
	for _, layer := range c.layers {
		layer.Truncate(n)
	}
}

// Capacity returns the number of tokens that the cache has room for.
func (c *Cache) Capacity() int { return c.layers[0].Capacity() }

// check refuses a cache that is not of a model of so many layers.
func (c *Cache) check(layers int) {
	if c != nil && len(c.layers) != layers {
		panic(&tensor.Error{Op: "gqa", Kind: tensor.ShapeMismatch, Expected: layers, Actual: len(c.layers),
			Message: fmt.Sprintf("the cache has %d layers, the model %d; make it with the model's NewCache", len(c.layers), layers)})
	}
}

// Grow makes room for capacity tokens in all, if there is less.
func (c *Cache) Grow(capacity int) error {
	for _, layer := range c.layers {
		if err := layer.Grow(capacity); err != nil {
			return err
		}
	}
	return nil
}

// layer returns a layer's cache, or nil.
func (c *Cache) layer(i int) *nn.KVCache {
	if c == nil {
		return nil
	}
	return c.layers[i]
}
