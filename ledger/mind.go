package ledger

// mind is what an agent's own conversation is about: the session whose prompt
// was typed last. Work that nobody's API session is for is a session too.
type mind struct {
	Used    bool   `json:"used,omitempty"`
	Session string `json:"session,omitempty"`
}

// session is whose work a parcel is.
func (p *parcel) session() string {
	if p.node != nil {
		return p.node.Session
	}
	return p.Session
}

// public says that a parcel is news for everyone: it neither belongs to a
// session nor ends one.
func (p *parcel) public() bool { return p.node == nil && p.Session == "" && !p.Anew }

// distracts says that a note is of another session than the task at hand: to
// read it the agent would have to forget that task.
func (p *parcel) distracts(n *node) bool { return !p.public() && p.session() != n.Session }

// strange says that the agent remembers another session than the parcel's.
func (s *seat) strange(p *parcel) bool {
	return s.mind.Used && !p.public() && s.mind.Session != p.session()
}

// learn notes that a parcel was typed.
func (s *seat) learn(p *parcel) {
	if !p.public() {
		s.mind = mind{true, p.session()}
	}
}
