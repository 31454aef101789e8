package agents

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// checkMeaning holds a reading against what was done on the stage.
func checkMeaning(t *testing.T, dir string, sc scene, e Engine, got reading) {
	t.Helper()
	checkState(t, dir, sc, e)
	if want := sc.Means == "dialog" || sc.Means == "signed out"; got.Dialog != want {
		t.Errorf("%s: got dialog %t, want %t", sc.Means, got.Dialog, want)
	}
	checkDraft(t, sc, got)
	checkAnswer(t, dir, sc, got)
	checkTrouble(t, sc, e, got)
}

// checkState judges the screen as the owner of the pane would, some time after
// it was drawn, or at once where a program works.
func checkState(t *testing.T, dir string, sc scene, e Engine) {
	t.Helper()
	now := sc.now(t)
	a := &Agent{opts: Options{Engine: e}.withDefaults(), eye: eye{spoke: true, changed: now.Add(-time.Minute)}}
	if slices.Contains([]string{"working", "waiting", "silent"}, sc.Means) {
		a.eye.changed = now
	}
	var plain scene
	begin := filepath.Join(filepath.Dir(dir), fmt.Sprintf("ready-%dx%d", sc.Size[0], sc.Size[1]))
	load(t, filepath.Join(begin, "scene.json"), &plain)
	a.eye.usual = e.read(readScreen(t, begin, plain), prompt{}).draft
	s := readScreen(t, dir, sc)
	ours, _ := newPrompt(Request{ID: sc.ID, From: sc.From, Body: sc.Body}, e)
	o, why := a.judgeScreen(s, e.read(s, ours), now)
	want := map[string][]observation{
		"ready": {ready}, "draft": {occupied}, "working": {working}, "waiting": {working}, "silent": {ready, unclear, working}, "dialog": {asking}, "signed out": {occupied}, "looked at": {occupied}, "wall": {ready}, "dead": {died},
	}[sc.Means]
	if !slices.Contains(want, o) {
		t.Errorf("%s: got observation %d (%s), want one of %d", sc.Means, o, why, want)
	}
}

// folding is how programs show a text in short.
var folding = regexp.MustCompile(`\[[^\]]*(lines|Pasted|Content)[^\]]*\]|…$`)

// checkDraft wants a part of what was typed to be read, or the program's word
// for it.
func checkDraft(t *testing.T, sc scene, got reading) {
	t.Helper()
	if sc.Means != "draft" {
		return
	}
	shown := string(squeeze(folding.ReplaceAllString(got.Draft, "")))
	if got.Draft == "" || !strings.Contains(string(squeeze(sc.Typed)), shown) {
		t.Errorf("got draft %q, want %.40q", got.Draft, sc.Typed)
	}
}

// checkAnswer compares letters and digits: programs render the rest.
func checkAnswer(t *testing.T, dir string, sc scene, got reading) {
	t.Helper()
	if shown := strings.Contains(strings.Join(readScreen(t, dir, sc).Lines, "\n"), "req-"+sc.ID+" from"); shown && !got.Found {
		t.Errorf("got no echo of the prompt, want it where it is")
	}
	text := letters(strings.Join(got.Text, "\n"))
	var all, first, last string
	for i, said := range sc.Said {
		if all += letters(said); i == 0 {
			first = letters(said)
		}
		last = letters(said)
	}
	if got.Token != sc.Done || !sc.Done && got.Markers > 0 {
		t.Errorf("got token %t and %d markers, want a token %t", got.Token, got.Markers, sc.Done)
	}
	if ends := len(sc.Said) > 0 && strings.HasSuffix(sc.Said[len(sc.Said)-1], sc.Marker); sc.Done && got.Tail == ends {
		t.Errorf("got text behind the token %t, want %t", got.Tail, !ends)
	}
	if fence.MatchString(strings.Join(sc.Said, "")) { // some number the lines of code
		all, text = undigited(all), undigited(text)
	}
	const some = 10 // letters by which a beginning is known
	var right bool
	switch {
	case !sc.asked() || sc.Failed != "" || sc.Until != "":
		return
	case len(sc.Said) == 0: // an interrupted program may say so
		right = text == "" || sc.Means == "ready"
	case !got.Found && !sc.Done:
		right = text == "" // its beginning is no longer there
	case !got.Found:
		right = text != "" && (strings.HasSuffix(all, text) || len(sc.Said) > 1 && strings.HasSuffix(text, last))
	case sc.Done && len(sc.Said) == 1:
		right = text == all
	case sc.Done: // the tool's call and its result stand between
		right = strings.HasPrefix(text, first) && strings.HasSuffix(text, last)
	case strings.HasPrefix(filepath.Base(dir), "streaming"): // a row may not be drawn yet
		right = text != ""
		for _, line := range got.Text {
			right = right && strings.Contains(all, letters(line))
		}
	default: // what the program says follows
		right = strings.HasPrefix(text, first[:min(len(first), some)])
	}
	if !right {
		t.Errorf("got text %q, want of %q", got.Text, sc.Said)
	}
}

// checkTrouble wants what the model's server said, and only then.
func checkTrouble(t *testing.T, sc scene, e Engine, got reading) {
	t.Helper()
	walled := sc.Means == "wall" || sc.Until != ""
	if walled && len(e.Wall) > 0 && got.Wall == "" || !walled && sc.Means != "waiting" && got.Wall != "" || got.Until != sc.Until {
		t.Errorf("got wall %q until %q in %q, want one %t until %q", got.Wall, got.Until, got.Text, walled, sc.Until)
	}
	if waits := sc.Means == "waiting"; waits != (got.Waits != "") {
		t.Errorf("%s: got %q for what it waits for, want any %t", sc.Means, got.Waits, waits)
	}
	switch {
	case walled:
	case sc.Failed == "" && got.Complaint != "" && (sc.Done || sc.Means != "ready"): // a program may complain about an interrupt
		t.Errorf("got complaint %q, want none", got.Complaint)
	case sc.Failed == "" || sc.Means == "waiting":
	case len(e.Failed) > 0 && !strings.Contains(letters(got.Complaint), letters(sc.Failed)):
		t.Errorf("got complaint %q, want %q", got.Complaint, sc.Failed)
	case len(e.Failed) == 0 && !sc.Alternate && !strings.Contains(letters(strings.Join(got.Text, "")), letters(sc.Failed)):
		t.Errorf("got text %q, want %q in it", got.Text, sc.Failed)
	}
}

// undigited is a text without digits.
func undigited(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// fence begins or ends code.
var fence = regexp.MustCompile("```\\w*")

// letters is a text without what programs render otherwise.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fence.ReplaceAllString(text, ""))
}
