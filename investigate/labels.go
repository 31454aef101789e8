package investigate

// labels are the report's own words in one language.
type labels struct {
	Title, Answer, Places, Inside, Depends, Dependents, Tests, Quality, Mentions, Named, Gaps, Done, Survey     string
	Signature, Callers, Callees, Tree, Variables, Related, Todos, Shape, Entries, Packages, HotSpots, More      string
	Implemented, SeeAlso, CalledBy, CallsOut, TestedBy, Nothing, OnlyLines, Overview, BeginsAt, Biggest         string
	NotFound, QuestionCut, EmptyTree, None, ByName, Figures, Complexity, Cut, Spilled, Problems, Graph, Central string
}

func (r *Report) label() labels {
	if r.Language == "ja" {
		return japaneseLabels()
	}
	return englishLabels()
}

func englishLabels() labels {
	return labels{
		Title: "Investigation", Answer: "Answer", Places: "Where it is implemented", Inside: "How it works inside",
		Depends: "Depends on", Dependents: "What depends on it", Tests: "Tests", Quality: "Quality", Mentions: "Other lines that mention it",
		Named: "Files named like it", Gaps: "What could not be found out", Done: "What was done", Survey: "Overview of the code base",
		Signature: "Signature", Callers: "Used from", Callees: "Calls", Tree: "Call tree", Variables: "Package variables it uses", Related: "Related types",
		Todos: "Left undone by the authors", Shape: "Shape", Entries: "Entry points", Packages: "Biggest packages", HotSpots: "Longest functions", More: "more with",
		Implemented: "`%s` (%s) is the best match.", SeeAlso: "See also:", CalledBy: "`%s` is used from %d places.", CallsOut: "`%s` calls %d functions.",
		TestedBy: "`%s` is touched by %d tests.", Nothing: "Nothing in this code base matches %s (%d files searched).",
		OnlyLines: "No declaration is named after %s, but these places mention it:", Overview: "The code base has %d files (%s).",
		BeginsAt: "It begins at:", Biggest: "The biggest package is %s with %d lines.",
		NotFound: "%s was found nowhere", QuestionCut: "the question was too long; only its beginning was read", EmptyTree: "the tree has no files",
		None: "nothing", ByName: "matched by name, not by type", Figures: "%d lines", Complexity: ", complexity %d", Cut: "%d of %d shown", Spilled: "all in", Problems: "Not read", Graph: "Dependencies",
		Central: "Imported most",
	}
}

func japaneseLabels() labels {
	return labels{
		Title: "調査報告", Answer: "回答", Places: "実装箇所", Inside: "内部構造",
		Depends: "依存先", Dependents: "依存元", Tests: "テスト", Quality: "品質指標", Mentions: "その他の言及箇所",
		Named: "名前が一致するファイル", Gaps: "判明しなかったこと", Done: "実施した調査", Survey: "コードベースの概要",
		Signature: "シグネチャ", Callers: "使用元", Callees: "呼び出し先", Tree: "呼び出しツリー", Variables: "使用するパッケージ変数", Related: "関連する型",
		Todos: "作者が残した未完の印", Shape: "構成", Entries: "エントリポイント", Packages: "最大のパッケージ", HotSpots: "最長の関数", More: "続きは",
		Implemented: "最も一致するのは `%s` (%s) です。", SeeAlso: "関連:", CalledBy: "`%s` は %d 箇所から使われています。", CallsOut: "`%s` は %d 個の関数を呼び出します。",
		TestedBy: "`%s` に触れるテストは %d 件です。", Nothing: "%s に一致するものはありません (%d ファイルを検索)。",
		OnlyLines: "%s という名前の宣言はありませんが、次の箇所で言及されています:", Overview: "ファイル数は %d です (%s)。",
		BeginsAt: "開始点:", Biggest: "最大のパッケージは %s (%d 行) です。",
		NotFound: "%s はどこにも見つかりませんでした", QuestionCut: "質問が長すぎるため、先頭だけを読みました", EmptyTree: "ファイルがありません",
		None: "なし", ByName: "型ではなく名前で照合", Figures: "%d 行", Complexity: "、複雑度 %d", Cut: "%d / %d 件を表示", Spilled: "全件", Problems: "読めなかったもの", Graph: "依存関係図",
		Central: "最も多く参照されるもの",
	}
}
