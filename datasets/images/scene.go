package images

import (
	"encoding/binary"
	"math"

	"github.com/stria-ml/stria/internal/philox"
)

// The ranges of random choices. Lengths are in pixels of an image of 32x32.
const (
	leastRadius, mostRadius   = 11.0, 14.5
	leastStroke, mostStroke   = 1.6, 2.4
	mostTilt                  = 0.5 // the sine of an angle
	leastBarHalf, mostBarHalf = 1.0, 2.0
	barChance                 = 0.3
	mostDark, leastLight      = 100.0, 155.0 // levels, 0 to 255
	mostNoise                 = 24.0         // levels
)

// colour is one level for each channel, in units of 1/256 of a pixel's.
type colour [3]int32

// scene is what one picture shows.
type scene struct {
	size, channels int

	figure       figure
	outlined     bool
	stroke       float64 // width of an outline, in pixels
	centre, axis vector
	radius       float64

	hasBar             bool
	barCentre, barAxis vector
	barHalf            float64 // half its width, and a third of half its length

	ground, ink, bar colour
	noise            int32 // the most, in units of a colour
}

// chooseScene draws all that is random but the noise itself.
func chooseScene(label, size, channels int, random *draws) (s scene) {
	unit := float64(size) / 32
	s.size, s.channels = size, channels
	s.figure, s.outlined = figures[label/2], label%2 == 1
	s.stroke = unit * random.between(leastStroke, mostStroke)
	s.radius = unit * random.between(leastRadius, mostRadius)
	s.axis = random.tilt()
	margin := 0.9 * s.radius
	s.centre = vector{random.between(margin, float64(size)-margin), random.between(margin, float64(size)-margin)}
	s.ground, s.ink = random.colour(0, mostDark), random.colour(leastLight, 255)
	if random.between(0, 1) < 0.5 {
		s.ground, s.ink = s.ink, s.ground
	}
	s.hasBar = random.between(0, 1) < barChance
	if s.hasBar {
		s.chooseBar(unit, random)
	}
	s.noise = int32(random.between(0, 256*mostNoise))
	return s
}

// chooseBar lays a bar over a part of the figure.
func (s *scene) chooseBar(unit float64, random *draws) {
	towards, away := random.direction(), s.radius*random.between(0.3, 1)
	s.barCentre = vector{s.centre.x + float64(away*towards.x), s.centre.y + float64(away*towards.y)}
	s.barAxis = random.direction()
	s.barHalf = unit * random.between(leastBarHalf, mostBarHalf)
	s.bar = random.colour(0, 255)
}

// colour returns a colour with levels from low up to high.
func (d *draws) colour(low, high float64) (c colour) {
	for i := range c {
		c[i] = int32(256 * d.between(low, high))
	}
	return c
}

// draw writes the picture to pixels: (C, H, W).
func (s *scene) draw(pixels []uint8, random *draws) {
	area := s.size * s.size
	noise := newNoises(random, s.noise)
	for y := range s.size {
		for x := range s.size {
			middle := vector{float64(x) + 0.5, float64(y) + 0.5}
			ink, bar := s.inkAt(middle), s.barAt(middle)
			for c := range s.channels {
				level := mix(mix(s.ground[c], s.ink[c], ink), s.bar[c], bar)
				pixels[c*area+y*s.size+x] = toByte(level + noise.next())
			}
		}
	}
}

// inkAt returns how much of the pixel about p the figure covers.
func (s *scene) inkAt(p vector) int32 {
	own := p.in(s.centre, s.axis)
	outside := s.radius * s.figure(vector{own.x / s.radius, own.y / s.radius})
	ink := coverage(outside)
	if s.outlined {
		ink -= coverage(outside + s.stroke)
	}
	return ink
}

// barAt returns how much of the pixel about p the bar covers.
func (s *scene) barAt(p vector) int32 {
	if !s.hasBar {
		return 0
	}
	return coverage(box(p.in(s.barCentre, s.barAxis), 3*s.barHalf, s.barHalf))
}

// coverage is the part of a pixel, in units of 1/256, that lies within a
// straight edge which passes its middle at a distance, less than 0 within.
func coverage(outside float64) int32 {
	return int32(256*min(max(0.5-outside, 0), 1) + 0.5)
}

// mix lays part of one level, in units of 1/256, over another.
func mix(under, over, part int32) int32 { return under + (over-under)*part>>8 }

// toByte rounds a level, in units of 1/256, to a pixel value.
func toByte(level int32) uint8 { return uint8(min(max((level+128)>>8, 0), math.MaxUint8)) }

// noises is independent departures from a level, one from each random byte, with
// equal chances from -most to most.
type noises struct {
	random *draws
	most   int32
	block  [16]byte
	used   int // bytes of the block
}

func newNoises(random *draws, most int32) noises {
	n := noises{random: random, most: most}
	n.used = len(n.block)
	return n
}

func (n *noises) next() int32 {
	if n.used == len(n.block) {
		n.fill()
	}
	b := int32(n.block[n.used])
	n.used++
	return (2*b - 255) * n.most >> 8
}

// fill draws the next block.
func (n *noises) fill() {
	d := n.random
	words := philox.Pair(uint64(d.stream), [2]uint64{d.example, d.number})
	d.number++
	binary.LittleEndian.PutUint64(n.block[:8], words[0])
	binary.LittleEndian.PutUint64(n.block[8:], words[1])
	n.used = 0
}
