package ledger

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

// purse counts the tokens of models. What an agent took for a task stands with
// the agent and the task; here are the days, the models and the ids that make
// each answer of a model count once.
type purse struct {
	counted map[key]int64 // the answers of the last days, with their day
	days    map[int64]map[string]protocol.Tokens
	models  map[string]protocol.Tokens
	day     int64 // that was last made room for

	// What the company had taken on a day when a person last let it go on.
	grantedDay, granted int64
}

const (
	// keptDays is how long a day's figures, and the ids counted on it, are
	// kept: as long as closed tasks.
	keptDays = int64(keepClosed / day)
	day      = 24 * time.Hour
	// maxModels bounds the names, since programs write them.
	maxModels  = 200
	otherModel = "other"
	// purseID is the size of a counted id in a snapshot: its key and its day.
	purseID = len(key{}) + 4
)

func newPurse() purse {
	return purse{counted: map[key]int64{}, days: map[int64]map[string]protocol.Tokens{}, models: map[string]protocol.Tokens{}}
}

// dayOf numbers the days of UTC.
func dayOf(at int64) int64 { return at / int64(day) }

func midnightAfter(at int64) int64 { return (dayOf(at) + 1) * int64(day) }

// usageKey names an answer of a model; programs know nothing of each other.
func usageKey(u *protocol.Usage) key { return keyOf("usage\x00" + u.Agent + "\x00" + u.ID) }

// Spend makes the entries of what an agent says its models took, without what
// is counted already: a spool is read again by each new hub.
func (l *Ledger) Spend(agent string, reports []protocol.Report, now time.Time) []protocol.Entry {
	var batch []protocol.Entry
	fresh := map[key]bool{}
	for _, r := range reports {
		if r.Usage == nil {
			continue
		}
		u := *r.Usage
		u.Agent, u.Req, u.At = agent, r.Req, r.Time
		if u.At.IsZero() || u.At.After(now) {
			u.At = now
		}
		if n := l.byReq[u.Req]; n != nil {
			u.Task = n.root.ID
		}
		if k := usageKey(&u); !fresh[k] && l.countable(&u) {
			fresh[k] = true
			batch = append(batch, protocol.Entry{Time: now, Kind: protocol.KindUsage, Usage: &u})
		}
	}
	return batch
}

// countable says that an answer is new, and young enough to know that.
func (l *Ledger) countable(u *protocol.Usage) bool {
	_, twice := l.purse.counted[usageKey(u)]
	return !twice && u.ID != "" && u.Agent != "" && min(u.Input, u.Output, u.Cached) >= 0 && u.Cost >= 0 &&
		dayOf(nanos(u.At)) > dayOf(l.clock)-keptDays
}

// applyUsage counts an answer of a model: for its agent and its day, and for
// the task whose attempt it was.
func (l *Ledger) applyUsage(e protocol.Entry, u *protocol.Usage) bool {
	if !l.countable(u) {
		return false
	}
	at := min(dayOf(nanos(u.At)), dayOf(nanos(e.Time)))
	l.purse.count(usageKey(u), at, u)
	s := l.seat(u.Agent)
	s.used, s.usedAt = s.used.Plus(u.Tokens), nanos(e.Time)
	if n := l.byReq[u.Req]; n != nil && n.seat == s {
		n.Used = n.Used.Plus(u.Tokens)
		n.root.Spent += u.Tokens.Spent()
	}
	return true
}

func (p *purse) count(k key, at int64, u *protocol.Usage) {
	p.counted[k] = at
	if p.days[at] == nil {
		p.days[at] = map[string]protocol.Tokens{}
	}
	p.days[at][u.Agent] = p.days[at][u.Agent].Plus(u.Tokens)
	model := u.Model
	if _, known := p.models[model]; !known && len(p.models) >= maxModels {
		model = otherModel
	}
	p.models[model] = p.models[model].Plus(u.Tokens)
}

// forget drops the days that are too long ago.
func (p *purse) forget(today int64) {
	if today <= p.day {
		return
	}
	p.day = today
	old := func(day int64) bool { return day <= today-keptDays }
	maps.DeleteFunc(p.days, func(day int64, _ map[string]protocol.Tokens) bool { return old(day) })
	maps.DeleteFunc(p.counted, func(_ key, day int64) bool { return old(day) })
}

func (p *purse) total(day int64) (sum protocol.Tokens) {
	for _, name := range slices.Sorted(maps.Keys(p.days[day])) {
		sum = sum.Plus(p.days[day][name])
	}
	return sum
}

// savedPurse is the purse on disk.
type savedPurse struct {
	Counted    []byte                               `json:"counted,omitempty"` // purseID bytes an id, sorted
	Days       map[int64]map[string]protocol.Tokens `json:"days,omitempty"`
	Models     map[string]protocol.Tokens           `json:"models,omitempty"`
	Day        int64                                `json:"day,omitempty"`
	GrantedDay int64                                `json:"granted_day,omitempty"`
	Granted    int64                                `json:"granted,omitempty"`
}

func (p *purse) save() savedPurse {
	s := savedPurse{Days: p.days, Models: p.models, Day: p.day, GrantedDay: p.grantedDay, Granted: p.granted}
	for _, k := range slices.SortedFunc(maps.Keys(p.counted), func(a, b key) int { return bytes.Compare(a[:], b[:]) }) {
		s.Counted = binary.BigEndian.AppendUint32(append(s.Counted, k[:]...), uint32(p.counted[k]))
	}
	return s
}

func (p *purse) restore(s savedPurse) {
	p.day, p.grantedDay, p.granted = s.Day, s.GrantedDay, s.Granted
	for at := 0; at < len(s.Counted); at += purseID {
		p.counted[key(s.Counted[at:])] = int64(binary.BigEndian.Uint32(s.Counted[at+len(key{}):]))
	}
	maps.Copy(p.days, s.Days)
	maps.Copy(p.models, s.Models)
}
