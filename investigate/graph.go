package investigate

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// graph is a drawing in three columns: who depends on the subjects, the
// subjects, and what they depend on. Arrows point to what is depended on.
type graph struct {
	Width, Height int
	Nodes         []graphNode
	Edges         []graphEdge
}

type graphNode struct {
	X, Y, W, H   int
	TextX, TextY int
	Label, Full  string
	Class        string
}

type graphEdge struct{ X1, Y1, X2, Y2, Mid int }

const (
	nodeWidth  = 250
	nodeHeight = 26
	nodeGap    = 10
	columnGap  = 110
	maxColumn  = 14 // more boxes than a screen shows are no picture
	labelChars = 32
)

// drawGraph returns nil where there is nothing to draw.
func drawGraph(subjects []Subject) *graph {
	var columns [3]graphColumn
	type link struct{ from, to string }
	var links [2][]link
	for i := range subjects {
		s := &subjects[i]
		here := s.Qualified() + " " + s.Path
		columns[1].add(here, s.Qualified())
		for _, r := range slices.Concat(s.Callers, s.Dependents) {
			if name := cmp.Or(r.Name, r.Path); columns[0].add(name, name) {
				links[0] = append(links[0], link{name, here})
			}
		}
		for _, r := range slices.Concat(s.Callees, s.DependsOn) {
			if name := cmp.Or(r.Name, r.Path); columns[2].add(name, name) {
				links[1] = append(links[1], link{here, name})
			}
		}
	}
	if len(columns[1].keys) == 0 || len(columns[0].keys)+len(columns[2].keys) == 0 {
		return nil
	}
	g := &graph{Width: 3*nodeWidth + 2*columnGap + 2}
	rows := max(len(columns[0].keys), len(columns[1].keys), len(columns[2].keys))
	g.Height = rows*(nodeHeight+nodeGap) + nodeGap
	for c := range columns {
		g.place(&columns[c], c)
	}
	for c := range links {
		for _, l := range links[c] {
			from, to := columns[c].at[l.from], columns[c+1].at[l.to]
			g.Edges = append(g.Edges, graphEdge{
				X1: from.X + nodeWidth, Y1: from.Y + nodeHeight/2, X2: to.X, Y2: to.Y + nodeHeight/2, Mid: from.X + nodeWidth + columnGap/2,
			})
		}
	}
	return g
}

// graphColumn holds the boxes of one column, each name once.
type graphColumn struct {
	keys   []string
	labels map[string]string
	at     map[string]graphNode
}

// add returns false where the column is full.
func (c *graphColumn) add(key, label string) bool {
	if _, ok := c.labels[key]; ok {
		return true
	}
	if len(c.keys) >= maxColumn {
		return false
	}
	if c.labels == nil {
		c.labels, c.at = map[string]string{}, map[string]graphNode{}
	}
	c.keys = append(c.keys, key)
	c.labels[key] = label
	return true
}

// place centres the boxes of a column.
func (g *graph) place(c *graphColumn, column int) {
	class := "box"
	if column == 1 {
		class = "subject"
	}
	y := (g.Height - len(c.keys)*(nodeHeight+nodeGap) + nodeGap) / 2
	for _, key := range c.keys {
		n := graphNode{
			X: 1 + column*(nodeWidth+columnGap), Y: y, W: nodeWidth, H: nodeHeight, Label: shortLabel(c.labels[key]), Full: c.labels[key], Class: class,
		}
		n.TextX, n.TextY = n.X+8, n.Y+17
		c.at[key] = n
		g.Nodes = append(g.Nodes, n)
		y += nodeHeight + nodeGap
	}
}

// shortLabel keeps the end of a long name, which tells more than its beginning.
func shortLabel(name string) string {
	if utf8.RuneCountInString(name) <= labelChars {
		return name
	}
	runes := []rune(name)
	return "…" + string(runes[len(runes)-labelChars+1:])
}
