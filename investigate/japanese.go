package investigate

import "orchestrator-cc/investigate/scan"

func japaneseLabels() labels {
	return labels{
		Title: "調査報告", Answer: "回答", Places: "実装箇所", Inside: "内部構造",
		Depends: "依存先", Dependents: "依存元", Tests: "テスト", Quality: "品質指標", Mentions: "その他の言及箇所",
		Named: "名前が一致するファイル", Gaps: "判明しなかったこと", Done: "実施した調査", Survey: "コードベースの概要",
		Signature: "シグネチャ", Callers: "使用元", Callees: "呼び出し先", Tree: "呼び出しツリー", Variables: "使用するパッケージ変数", Related: "関連する型",
		Todos: "作者が残した未完の印", Entries: "エントリポイント", Packages: "最大のパッケージ", HotSpots: "最長の関数", More: "続きは",
		Implemented: "最も一致するのは `%s` (%s) です。", SeeAlso: "関連:", Nothing: "%s に一致するものはありません (%sを検索)。",
		OnlyLines: "%s という名前の宣言はありませんが、次の箇所で言及されています:", Overview: "このコードベースの規模: %s (%s)。",
		BeginsAt: "開始点:", Biggest: "最大のパッケージは %s (%s) です。", NamesFile: "質問が指すファイル:", Declares: "宣言:",
		NotFound: "%s はどこにも見つかりませんでした", NoFile: "%s というファイルはありません", QuestionCut: "質問が長すぎるため、先頭だけを読みました",
		EmptyTree: "すべて: %s には読めるファイルがありません", Empty: "%s にはファイルがありません。",
		None: "なし", ByName: "型ではなく名前で照合", Cut: "%d / %d 件を表示", Spilled: "全件", Problems: "読めなかったもの", Graph: "依存関係図",
		Central: "最も多く参照されるもの", Rest: "ほか %d 件は JSON と HTML の報告にあります",

		CalledBy: plural{many: "`%s` は %d 箇所から使われています。"}, CallsOut: plural{many: "`%s` は %d 個の関数を呼び出します。"},
		TestedBy: plural{many: "`%s` に触れるテストは %d 件です。"},
		Lines:    plural{many: "%d 行"}, Files: plural{many: "ファイル %d 件"}, Folders: plural{many: "フォルダー %d 件"}, Decls: plural{many: "宣言 %d 件"},
		Complexity: "、複雑度 %d", Comma: "、",
		ForWork: "組み込みエンジンにはモデルがありません。書く、直す、実行するといった作業はできず、言葉が指すコードを探すだけです。このような依頼にはモデルのあるエンジンを使ってください: `orchestrator-cc up --engine NAME`",
		ForChat: "組み込みエンジンにはモデルがなく、言葉が指すコードを探すだけです。コードを指す言葉がないため、概要を示します。",
		ForWeak: "この言葉によく合う名前はコードにありません。組み込みエンジンにはモデルがなく、言葉が指すコードを探すだけです。",
		ForMore: "それ以上のことにはモデルのあるエンジンを使ってください: `orchestrator-cc up --engine NAME`",

		Sums: sums{Tree: "%[2]sに%[1]s", Grep: "%[2]sに %[1]s (検索 %[3]d 件)", Survey: "%sを概観", Static: "%sを分析", Partial: "時間切れのため、結果は途中までです"},
		Notes: notes{
			Analysed: "一致した宣言 %[2]d 件のうち %[1]d 件を分析しました", NoMatch: "%s に一致する宣言はありません", Looked: "%s: 言及する %[3]d 行のうち %[2]d 行だけを調べました",
			TestsOf: "%s のテスト: 最初の %d 件を示します", Shown: "%[1]s: %[3]d 件のうち %[2]d 件を示します", TooCommon: "%s: ありふれた名前のため、最初のファイルだけを読みました",
			TooLarge: "型: 周囲のパッケージが大きすぎてすべては検査できず、呼び出しが欠けている可能性があります", Checked: "%[1]s: パッケージ %[3]d 件のうち %[2]d 件を検査しました",
			Untyped:   "%s (%s:%d) は型検査できませんでした (別の環境向けのファイルか、コンパイルできないもの)。呼び出しは名前で照合しています",
			ImportsOf: "%s のインポート", DependentsOf: "%s の依存元", CallsIn: "%s の中の呼び出し", CallersOf: "%s の呼び出し元", RelatedTo: "%s に関連する型", UsersOf: "%s の使用元",
			TopLevel: "パッケージの最上位", Through: "%s 経由", ImplementedBy: "実装: %s", Implements: "満たすインターフェース: %s",
		},
		kinds: map[scan.Kind]string{
			scan.Function: "関数", scan.Method: "メソッド", scan.Prototype: "プロトタイプ宣言", scan.Class: "クラス", scan.Struct: "構造体", scan.Union: "共用体",
			scan.Interface: "インターフェース", scan.Enum: "列挙型", scan.Type: "型", scan.Module: "モジュール", scan.Macro: "マクロ",
			scan.Constant: "定数", scan.Variable: "変数", fileKind: "ファイル",
		},
		reasons: map[string]string{
			reasonLoop: "シンボリックリンクの循環", reasonLoopUp: "シンボリックリンクの循環: 外側のフォルダーに戻ります", reasonDeadLink: "リンク先のないシンボリックリンク",
			reasonLink: "シンボリックリンクのため、たどりません", reasonCut: "ファイルが多すぎるため、一部だけです", errTooLarge.Error(): "4 MB を超えるため、文字列検索だけを行いました",
		},
	}
}
