package investigate

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton finds the lines that a pattern may match, several times faster than
// package regexp: it turns the pattern's program into a deterministic automaton
// state by state, as the text asks for them. Assertions such as \b and $ count
// as true, so where the pattern has one (exact is false) each line it finds must
// be checked. It is used by one goroutine; its memory is bounded by maxCells.
type automaton struct {
	prog   *syntax.Prog
	exact  bool
	bounds []rune // each class of runes begins at one of these
	ascii  [utf8.RuneSelf]uint16
	width  int     // number of classes
	cells  []int32 // state*width+class: the next state's offset, or one of the two below
	states [][]uint32
	index  map[string]int32
	mark   []uint32 // scratch for sets of instructions
	round  uint32
}

const (
	unknown  = int32(-1) // not computed yet
	matching = int32(-2) // the match is complete

	// maxCells is 4 MB of transitions. A pattern that needs more starts over with
	// an empty table, which costs time but never memory.
	maxCells = 1 << 20
)

func newAutomaton(prog *syntax.Prog) *automaton {
	a := &automaton{prog: prog, exact: true, mark: make([]uint32, len(prog.Inst))}
	cuts := []rune{0, '\n', '\n' + 1, utf8.RuneError, utf8.RuneError + 1}
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		switch inst.Op {
		case syntax.InstEmptyWidth:
			a.exact = false
		case syntax.InstRune, syntax.InstRune1:
			cuts = appendCuts(cuts, inst)
		}
	}
	slices.Sort(cuts)
	a.bounds = slices.Compact(cuts)
	a.width = len(a.bounds)
	for r := range a.ascii {
		a.ascii[r] = a.class(rune(r))
	}
	a.reset()
	return a
}

func appendCuts(cuts []rune, inst *syntax.Inst) []rune {
	if len(inst.Rune) == 1 {
		first := inst.Rune[0]
		cuts = append(cuts, first, first+1)
		if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
				cuts = append(cuts, r, r+1)
			}
		}
		return cuts
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		cuts = append(cuts, inst.Rune[i], inst.Rune[i+1]+1)
	}
	return cuts
}

func (a *automaton) class(r rune) uint16 {
	i, found := slices.BinarySearch(a.bounds, r)
	if !found {
		i--
	}
	return uint16(i)
}

// reset forgets all states but the first, in which nothing has matched yet.
func (a *automaton) reset() {
	a.cells, a.states, a.index = a.cells[:0], a.states[:0], make(map[string]int32)
	a.intern(a.closure(nil, uint32(a.prog.Start)))
}

// find returns the offset just behind the first place in b where a match ends,
// or -1. Matches do not span lines.
func (a *automaton) find(b []byte) int {
	if a.startMatches() {
		return 0
	}
	state, cells := 0, a.cells
	for i := 0; i < len(b); {
		// This loop is where a search spends its time: a known transition on an
		// ASCII byte goes straight to the next byte.
		c := b[i]
		if c < utf8.RuneSelf {
			if next := cells[state+int(a.ascii[c])]; next >= 0 {
				state = int(next)
				i++
				continue
			}
		}
		next, size := a.slow(int32(state), b[i:])
		if next == matching {
			return i + size
		}
		state, cells = int(next), a.cells
		i += size
	}
	return -1
}

// slow takes one step that the fast loop cannot: a rune beyond ASCII, a match,
// or a transition that is not known yet.
func (a *automaton) slow(state int32, b []byte) (next int32, size int) {
	r, size := utf8.DecodeRune(b)
	class := a.class(r)
	if next = a.cells[int(state)+int(class)]; next == unknown {
		next = a.step(state, class)
	}
	return next, size
}

// startMatches is true for patterns that match the empty string.
func (a *automaton) startMatches() bool { return a.states[0] == nil }

// step computes and keeps one transition.
func (a *automaton) step(from int32, class uint16) int32 {
	r := a.bounds[class]
	if r == '\n' {
		a.cells[int(from)+int(class)] = 0
		return 0
	}
	a.round++
	var set []uint32
	for _, pc := range a.states[int(from)/a.width] {
		if inst := &a.prog.Inst[pc]; inst.MatchRune(r) {
			if set = a.closure(set, inst.Out); set == nil {
				a.cells[int(from)+int(class)] = matching
				return matching
			}
		}
	}
	if set = a.closure(set, uint32(a.prog.Start)); set == nil {
		a.cells[int(from)+int(class)] = matching
		return matching
	}
	flushed := len(a.cells)+a.width > maxCells
	if flushed {
		a.reset()
	}
	to := a.intern(set)
	if !flushed {
		a.cells[int(from)+int(class)] = to
	}
	return to
}

// closure adds what is reachable from pc without reading anything to the set;
// nil means that a match is reachable. The set is never nil otherwise.
func (a *automaton) closure(set []uint32, pc uint32) []uint32 {
	if set == nil {
		set = make([]uint32, 0, 8)
		a.round++
	}
	stack := append(make([]uint32, 0, 16), pc)
	for len(stack) > 0 {
		pc = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a.mark[pc] == a.round {
			continue
		}
		a.mark[pc] = a.round
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return nil
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			stack = append(stack, inst.Out)
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	return set
}

// intern returns the offset of the state with these instructions.
func (a *automaton) intern(set []uint32) int32 {
	slices.Sort(set)
	key := make([]byte, 0, len(set)*4)
	for _, pc := range set {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if state, ok := a.index[string(key)]; ok {
		return state
	}
	state := int32(len(a.cells))
	a.index[string(key)] = state
	a.states = append(a.states, set)
	for range a.width {
		a.cells = append(a.cells, unknown)
	}
	return state
}
