package personalities_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrator-cc/personalities"
	"orchestrator-cc/protocol"

	"github.com/google/go-cmp/cmp"
)

type duty struct {
	name      string
	marker    string
	role      protocol.Role
	addresses []string // whom the brief shows how to give orders to
	heading   map[string]string
}

func duties() []duty {
	orders := map[string]string{"en": "How to delegate", "ja": "任せ方"}
	answers := map[string]string{"en": "Whom you may address", "ja": "やり取りの相手"}
	return []duty{
		{"grand_boss", "GRAND BOSS OK", protocol.GrandBoss, []string{"middle_manager"}, orders},
		{"middle_manager", "MIDDLE MANAGER OK", protocol.MiddleManager,
			[]string{"coding_writing_specialist", "research_analysis_specialist", "testing_specialist"}, orders},
		{"coding_writing_specialist", "CODING OK", protocol.SpecialistCoding, nil, answers},
		{"research_analysis_specialist", "RESEARCH OK", protocol.SpecialistResearch, nil, answers},
		{"testing_specialist", "TESTING OK", protocol.SpecialistTesting, nil, answers},
	}
}

func each(t *testing.T, check func(t *testing.T, d duty, lang, text string)) {
	t.Helper()
	for _, lang := range personalities.Languages() {
		for _, d := range duties() {
			t.Run(lang+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				text, ok := personalities.Brief(d.name, lang)
				if !ok {
					t.Fatalf("got no brief of %s in %s, want one", d.name, lang)
				}
				check(t, d, lang, text)
			})
		}
	}
}

func TestBriefNamesItsOwnMarkerOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d duty, _, text string) {
		if got := strings.Count(text, d.marker); got != 1 {
			t.Errorf("got marker %q %d times, want once", d.marker, got)
		}
		for _, other := range duties() {
			if other.name != d.name && strings.Contains(text, other.marker) {
				t.Errorf("got the marker %q of %s in the brief of %s", other.marker, other.name, d.name)
			}
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, d.marker) {
			t.Errorf("got last line %q, want it to hold the marker rule", last)
		}
	})
}

func TestBriefShowsMentionsOfAllowedAgentsOnly(t *testing.T) {
	t.Parallel()
	mention := regexp.MustCompile(`(?m)^@(\w+): \S`)
	anywhere := regexp.MustCompile(`@(\w+)`)
	each(t, func(t *testing.T, d duty, _, text string) {
		var got []string
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		if diff := cmp.Diff(d.addresses, got); diff != "" {
			t.Errorf("lines that delegate (-want +got):\n%s", diff)
		}
		for _, m := range anywhere.FindAllStringSubmatch(text, -1) {
			if m[1] != "agent_name" && !slices.Contains(d.addresses, m[1]) {
				t.Errorf("got a mention of %s, which %s may not address", m[1], d.name)
			}
		}
		if len(d.addresses) == 0 && !strings.Contains(text, "@agent_name:") {
			t.Error("got no word on the mention syntax, want it explained")
		}
	})
}

// The briefs and the permission matrix must tell the same story.
func TestBriefAgreesWithThePermissionMatrix(t *testing.T) {
	t.Parallel()
	matrix := protocol.DefaultMatrix()
	for _, from := range duties() {
		for _, to := range duties() {
			if from.name == to.name {
				continue
			}
			err := matrix.Permit(protocol.Party(from.name, from.role), protocol.Party(to.name, to.role), protocol.Request, false)
			if slices.Contains(from.addresses, to.name) && err != nil {
				t.Errorf("%s is told to address %s: got %v, want it permitted", from.name, to.name, err)
			}
			if len(from.addresses) == 0 && err == nil {
				t.Errorf("%s is told to address nobody: got permission to address %s", from.name, to.name)
			}
		}
	}
}

func TestBriefTellsTheCommonRules(t *testing.T) {
	t.Parallel()
	rules := map[string][]string{
		"en": {"Your duty", "comes back to you as one message|come back to you as one message", "When you are stuck", "Say so plainly|plainly", "request's id", "last line"},
		"ja": {"役割", "一つのメッセージにまとまって", "行き詰まったとき", "率直に", "依頼の id", "最後の行"},
	}
	each(t, func(t *testing.T, d duty, lang, text string) {
		for _, rule := range append(rules[lang], d.heading[lang]) {
			if !regexp.MustCompile(rule).MatchString(text) {
				t.Errorf("got no %q in the brief, want it", rule)
			}
		}
		if !strings.Contains(strings.SplitN(text, "\n", 2)[0], d.name) {
			t.Error("got a first line without the agent's name, want it there")
		}
	})
}

func TestFilesAndNames(t *testing.T) {
	t.Parallel()
	for _, lang := range personalities.Languages() {
		var names []string
		for _, f := range personalities.Files(lang) {
			names = append(names, strings.TrimSuffix(f.Name, ".txt"))
			if want, _ := personalities.Brief(strings.TrimSuffix(f.Name, ".txt"), lang); f.Text != want || want == "" {
				t.Errorf("%s: got %d bytes, want the brief of %d", f.Name, len(f.Text), len(want))
			}
		}
		if diff := cmp.Diff(personalities.Names(), names); diff != "" {
			t.Errorf("files of %s (-want +got):\n%s", lang, diff)
		}
	}
	if got := personalities.Files("fr"); got != nil {
		t.Errorf("got %d files in a language we do not have, want none", len(got))
	}
}

func TestBriefOfNobody(t *testing.T) {
	t.Parallel()
	for _, ask := range [][2]string{{"nobody", "en"}, {"grand_boss", "fr"}, {"../en/grand_boss", "en"}, {"", ""}} {
		if text, ok := personalities.Brief(ask[0], ask[1]); ok || text != "" {
			t.Errorf("Brief(%q, %q): got %d bytes, want none", ask[0], ask[1], len(text))
		}
	}
}
