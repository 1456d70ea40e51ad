package images

import "math"

// figureNames are the classes: label 2·f draws figure f filled, 2·f+1 outlined.
var figureNames = []string{
	"filled circle", "outlined circle",
	"filled square", "outlined square",
	"filled triangle", "outlined triangle",
	"filled cross", "outlined cross",
}

// figure is a closed curve: it returns by how much a point lies outside of it,
// less than 0 within. The point is in units of the figure's radius, its centre
// at 0. Near the curve the value is the distance to it, away from it at most.
type figure func(p vector) float64

// figures have about the same extent; none is told from another by its area
// alone, since sizes differ by more.
var figures = [...]figure{circle, square, triangle, cross}

func circle(p vector) float64 { return p.length() - circleRadius }

func square(p vector) float64 { return box(p, squareHalf, squareHalf) }

// triangle has its corners on the unit circle; its sides are half a radius from
// the centre.
func triangle(p vector) float64 {
	const x = 0.8660254037844386 // √3/2
	side := max(-p.y, max(p.dot(vector{x, 0.5}), p.dot(vector{-x, 0.5})))
	return side - 0.5
}

// cross is a bar on another.
func cross(p vector) float64 {
	return min(box(p, crossLong, crossShort), box(p, crossShort, crossLong))
}

const (
	circleRadius = 0.8
	squareHalf   = 0.7
	crossLong    = 0.9
	crossShort   = 0.35
)

// box is a rectangle about the centre.
func box(p vector, halfWidth, halfHeight float64) float64 {
	return max(math.Abs(p.x)-halfWidth, math.Abs(p.y)-halfHeight)
}

// vector is a point of the plane.
type vector struct{ x, y float64 }

// dot returns the inner product. The conversions keep the compiler from joining
// a product with the sum, which would round otherwise on some processors.
func (v vector) dot(w vector) float64 { return float64(v.x*w.x) + float64(v.y*w.y) }

func (v vector) length() float64 { return math.Sqrt(v.dot(v)) }

// in returns the point's coordinates in a frame: its centre at 0, its first axis
// along the unit vector.
func (v vector) in(centre, axis vector) vector {
	moved := vector{v.x - centre.x, v.y - centre.y}
	return vector{moved.dot(axis), moved.dot(vector{-axis.y, axis.x})}
}
