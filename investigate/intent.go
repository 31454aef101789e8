package investigate

import (
	"regexp"
	"slices"
	"strings"
)

// What a text wants that no search can give: to be greeted, or to have something
// made. It is told apart so that the report can say so instead of answering
// another question.

const (
	// workVerbs at the start of a sentence ask for work; workNouns do only before
	// something definite, because "test coverage" and "build failures" are things.
	workVerbs = `write|rewrite|fix|repair|refactor|create|implement|generate|rename|execute|optimi[sz]e|translate|compose|draw`
	workNouns = `run|build|test|change|update|review|design|make|add|delete|remove|debug|install|deploy|improve|commit|merge|start|stop`
	// japaneseWork are the verbs; what must follow tells a request from a report
	// such as 追加している.
	japaneseWork = `(?:書い|書き直し|直し|作っ|作り直し|走らせ|動かし|消し|(?:実行|修正|作成|実装|追加|削除|変更|生成|更新|改善|翻訳|リファクタリング|リファクタ|テスト|デプロイ|インストール|コミット|ビルド|最適化)し)て`
	// sentenceStart is where an order begins, with whatever politeness.
	sentenceStart = `(?i)(?:^|[.!?;,\n])\s*(?:(?:please|kindly|now|hello|hi|hey)[,\s]+|(?:can|could|would|will)\s+you\s+(?:please\s+)?|i\s+(?:want|need|would like)\s+you\s+to\s+)*`
)

var (
	asksWork   = regexp.MustCompile(sentenceStart + `(?:(` + workVerbs + `)\s+\S|(` + workNouns + `)\s+(?:a|an|the|my|our|your|this|that|these|those|all|some|new|it|me|tests?|code|\.)\b)`)
	asksWorkJa = regexp.MustCompile(japaneseWork + `(?:ください|下さい|くれ|ほしい|欲しい|もらえ|いただ|頂|おいて|みて|よ|ね|[。！!、.\s]|$)|実行(?:せよ|しろ|を?お願い|[。！!]|$)`)

	defaultAgents = regexp.MustCompile(`^(?:grand_boss|middle_manager|\w+_specialist)$`)
	mentioned     = regexp.MustCompile(`(^|[\s(,、。])@([\w-]+):?`)
)

// work finds an order, and takes its verb out of what is searched for.
func (p *termParser) work() {
	if at := asksWork.FindStringSubmatchIndex(p.rest); at != nil {
		p.asksWork = true
		verb := at[2:4]
		if verb[0] < 0 {
			verb = at[4:6]
		}
		p.rest = p.rest[:verb[0]] + " . " + p.rest[verb[1]:]
	}
	if at := asksWorkJa.FindStringIndex(p.rest); at != nil {
		p.asksWork = true
		p.rest = p.rest[:at[0]] + " 。" + p.rest[at[1]:]
	}
}

// withoutAgents takes mentions of agents out of a text: they say who is asked,
// not what. Any other @name may be an annotation in the code.
func withoutAgents(text string, agents []string) string {
	return mentioned.ReplaceAllStringFunc(text, func(match string) string {
		m := mentioned.FindStringSubmatch(match)
		if slices.Contains(agents, m[2]) || defaultAgents.MatchString(m[2]) {
			return m[1]
		}
		return match
	})
}

const greetings = ` hello hi hey good morning afternoon evening night bye goodbye thanks thank cheers welcome nice meet ok okay yes great sorry there friend world team everyone `

// isGreeting is true where there are terms and none of them is about code.
func isGreeting(terms []Term) bool {
	for _, t := range terms {
		for word := range strings.FieldsSeq(strings.ToLower(t.Text)) {
			if t.Kind != TermWord && t.Kind != TermPhrase || !strings.Contains(greetings, " "+word+" ") {
				return false
			}
		}
	}
	return len(terms) > 0
}

// aboutCode are the words by which people speak of a code base as a whole.
const aboutCode = ` code codebase base project repo repository program package packages module modules architecture structure overview source tree summary file files
 function functions class classes dependencies implementation test tests entry purpose `

const aboutCodeJa = `コード ソース プロジェクト リポジトリ プログラム パッケージ モジュール アーキテクチャ 構造 構成 概要 全体 ファイル 関数 クラス 依存 実装 機能 テスト`

// speaksOfCode tells a question about the whole from one about nothing here.
func speaksOfCode(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if strings.Contains(aboutCode, " "+word+" ") || strings.Contains(aboutCode, "\n"+word+" ") {
			return true
		}
	}
	return slices.ContainsFunc(strings.Fields(aboutCodeJa), func(w string) bool { return strings.Contains(text, w) }) || whatIsThis.MatchString(text)
}

// whatIsThis is the shortest question for an overview.
var whatIsThis = regexp.MustCompile(`(?i)\bwhat(?:'s| is| does)? (?:this|it|here)\b|\bwhat is (?:in )?here\b|これは何|何ですか`)

// asksWhere is true for a question that wants a place more than an explanation.
var asksWhere = regexp.MustCompile(`(?i)\bwhere\b|\bwhich (?:file|folder|package)\b|どこ|何処|場所|箇所`)
