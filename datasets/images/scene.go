package images

import (
	"encoding/binary"
	"math"

	"github.com/stria-ml/stria/internal/philox"
)

// The random choices, in pixels of an image of 32x32 and levels of 0 to 255.
const (
	leastRadius, mostRadius   = 11.0, 14.5
	leastStroke, mostStroke   = 1.6, 2.4
	leastContrast             = 100.0
	leastBarHalf, mostBarHalf = 1.0, 2.0
	barChance                 = 0.3
	mostNoise                 = 24.0
)

// colour is one level for each channel, 0 to 255.
type colour [3]float64

// scene is what one picture shows.
type scene struct {
	size, channels int
	unit           float64 // pixels of this image to one of 32x32

	figure       figure
	outlined     bool
	stroke       float64 // width of an outline, in pixels
	centre, axis vector
	radius       float64

	hasBar           bool
	barCentre        vector
	barAxis          vector
	barHalf          float64
	ground, ink, bar colour

	noise float64
}

// chooseScene draws all that is random but the noise itself.
func chooseScene(label, size, channels int, random *draws) *scene {
	unit := float64(size) / 32
	s := &scene{
		size: size, channels: channels, unit: unit,
		figure:   figures[label/2],
		outlined: label%2 == 1,
		stroke:   unit * random.between(leastStroke, mostStroke),
		radius:   unit * random.between(leastRadius, mostRadius),
		axis:     random.direction(),
	}
	margin := 0.9 * s.radius
	s.centre = vector{random.between(margin, float64(size)-margin), random.between(margin, float64(size)-margin)}
	s.ground, s.ink = chooseColours(channels, random)
	s.chooseBar(random)
	s.noise = random.between(0, mostNoise)
	return s
}

// chooseColours returns two colours whose means differ clearly, either being
// the lighter.
func chooseColours(channels int, random *draws) (ground, ink colour) {
	for {
		ground, ink = random.colour(channels), random.colour(channels)
		if math.Abs(ground.mean(channels)-ink.mean(channels)) >= leastContrast {
			return ground, ink
		}
	}
}

func (d *draws) colour(channels int) (c colour) {
	for i := range channels {
		c[i] = d.between(0, 255)
	}
	return c
}

func (c colour) mean(channels int) float64 {
	sum := 0.0
	for i := range channels {
		sum += c[i]
	}
	return sum / float64(channels)
}

// chooseBar lays a bar across the figure's rim.
func (s *scene) chooseBar(random *draws) {
	s.hasBar = random.between(0, 1) < barChance
	if !s.hasBar {
		return
	}
	towards, away := random.direction(), s.radius*random.between(0.3, 1)
	s.barCentre = vector{s.centre.x + float64(away*towards.x), s.centre.y + float64(away*towards.y)}
	s.barAxis = random.direction()
	s.barHalf = s.unit * random.between(leastBarHalf, mostBarHalf)
	s.bar = random.colour(s.channels)
}

// draw writes the picture to pixels: (C, H, W).
func (s *scene) draw(pixels []uint8, random *draws) {
	area := s.size * s.size
	noise := noises{random: random, scale: s.noise / 255}
	for y := range s.size {
		for x := range s.size {
			centre := vector{float64(x) + 0.5, float64(y) + 0.5}
			ink, bar := s.inkAt(centre), s.barAt(centre)
			for c := range s.channels {
				level := mix(mix(s.ground[c], s.ink[c], ink), s.bar[c], bar)
				pixels[c*area+y*s.size+x] = toByte(level + noise.next())
			}
		}
	}
}

// inkAt returns how much of the pixel about p the figure covers, 0 to 1.
func (s *scene) inkAt(p vector) float64 {
	own := p.in(s.centre, s.axis)
	outside := s.radius * s.figure(vector{own.x / s.radius, own.y / s.radius})
	ink := coverage(outside)
	if s.outlined {
		ink -= coverage(outside + s.stroke)
	}
	return ink
}

// barAt returns how much of the pixel about p the bar covers.
func (s *scene) barAt(p vector) float64 {
	if !s.hasBar {
		return 0
	}
	own := p.in(s.barCentre, s.barAxis)
	return coverage(box(own, 3*s.barHalf, s.barHalf))
}

// coverage is the part of a pixel that lies within a straight edge which passes
// it at a distance, less than 0 within.
func coverage(outside float64) float64 { return min(max(0.5-outside, 0), 1) }

func mix(under, over, part float64) float64 { return under + float64(part*(over-under)) }

func toByte(level float64) uint8 { return uint8(min(max(math.Floor(level+0.5), 0), 255)) }

// noises is independent departures, each the difference of two random bytes,
// scaled: most are small.
type noises struct {
	random *draws
	scale  float64
	block  [16]byte
	left   int // unused bytes of the block
}

func (n *noises) next() float64 {
	if n.left == 0 {
		d := n.random
		words := philox.Pair(uint64(d.stream), [2]uint64{d.example, d.number})
		d.number++
		binary.LittleEndian.PutUint64(n.block[:8], words[0])
		binary.LittleEndian.PutUint64(n.block[8:], words[1])
		n.left = len(n.block)
	}
	at := len(n.block) - n.left
	n.left -= 2
	return float64(n.scale * float64(int(n.block[at])-int(n.block[at+1])))
}
