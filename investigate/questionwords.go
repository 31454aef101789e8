package investigate

import (
	"slices"
	"strings"
	"unicode"
)

// stopWords are the words of questions about code that name nothing in it.
const stopWords = ` a about after all also an and any are around as at base be been before being between both but by can case class classes
 code codebase come comes could define defined defines definition did do does done each else every example explain explains file files find for from function
 functions get gets give given had handle handled handles has have having here how i if implement implementation implemented implements in inside into
 is it its kind know let like list located look made main make makes many may me method methods module modules more most much must my need
 needs no not of on one only or other our out over overview package packages part parts piece please point program project purpose
 repo repository responsible run runs see should show shows so some somewhere source structure such summary tell than that the their them then there these they thing
 this those through to tree type types under up us use used uses using very want was way we well were what when where which while who whole
 why will with work works would you your describe architecture happen happens depend depends dependencies dependency test tests tested
 place places bug bugs location locations internally call calls called caller callers find details exactly currently there's what's where's actually live lives `

func isStopWord(w string) bool { return slices.Contains(strings.Fields(stopWords), w) }

// japaneseStops are words of questions that name nothing in code. A word stands
// before those that are part of it.
const japaneseStops = ` 実装 場所 箇所 関数 機能 処理 方法 仕組み 仕組 依存関係 依存 関係 内部 構造 概要 全体 説明 調査 定義 使用 利用 呼出 該当 部分 特定 存在 何処 一覧 動作 目的 役割 全部
 コードベース ソースコード ソース コード ファイル プロジェクト リポジトリ クラス メソッド モジュール パッケージ アーキテクチャ テスト プログラム ディレクトリ `

// dictionary gives the English names that code uses for Japanese words.
const dictionary = `リトライ retry|再試行 retry|再送 retry|認証 auth-|認可 authoriz-|設定 config-|構成 config-|接続 connect|切断 disconnect|送信 send|受信 receiv-|通信 communicat-|メッセージ message|
 ログ log|エラー error|例外 exception|検証 validat-|検査 check|解析 pars-|構文 syntax|検索 search|探索 search|削除 delete|追加 add|更新 update|保存 save|読込 load|書込 write|読み込み load|書き込み write|
 起動 start|開始 start|停止 stop|終了 shutdown|タイムアウト timeout|時間切れ timeout|キュー queue|待ち行列 queue|キャッシュ cache|セッション session|ユーザー user|ユーザ user|権限 permission|許可 permi-|
 優先度 priority|優先順位 priority|配送 deliver|配信 deliver|方針 policy|ポリシー policy|エージェント agent|タスク task|画面 screen|入力 input|出力 output|変換 convert|計算 calc-|比較 compare|
 並列 parallel|並行 concurren-|非同期 async|同期 sync|排他 lock|ロック lock|トランザクション transaction|データベース database|テーブル table|支払 pay|支払い pay|決済 payment|注文 order|在庫 stock|在庫管理 inventory|価格 price|割引 discount|
 ファイル名 filename|圧縮 compress|暗号 crypt-|暗号化 encrypt|署名 sign|鍵 key|トークン token|サーバー server|サーバ server|クライアント client|要求 request|応答 response|リクエスト request|レスポンス response|
 パーサー parser|パーサ parser|ルーター router|ハンドラ handler|ハンドラー handler|スケジューラ schedul-|バックアップ backup|復元 restore|登録 register|通知 notif-|イベント event|状態 state|遷移 transition|描画 render|表示 display|印刷 print|
 ペイン pane|ウィンドウ window|端末 terminal|承認 approv-|拒否 den-|中断 interrupt|再開 resume|一時停止 pause|報告 report|監視 watch|履歴 histor-|委任 delegat-|期限 deadline|貼り付け paste|問い合わせ query|
 受け取り receiv-|取り消し cancel|待ち受け listen|切り替え switch|組み込み builtin|並べ替え sort|`

// translate returns the English word, or "".
func translate(word string) string {
	for entry := range strings.SplitSeq(dictionary, "|") {
		if ja, en, ok := strings.Cut(strings.TrimSpace(entry), " "); ok && ja == word {
			return en
		}
	}
	return ""
}

// japanese takes runs of katakana and of kanji. A run that the dictionary does
// not know is tried from both ends: 再試行処理 holds 再試行.
func (p *termParser) japanese() {
	p.mixedWords()
	for _, run := range japaneseRuns(p.rest) {
		if isJapaneseStop(run) {
			continue
		}
		if word, en := longestKnown(run); en != "" {
			p.add(Term{Text: word, Kind: TermWord, Weight: 5, Also: []string{en}})
			continue
		}
		p.add(Term{Text: run, Kind: TermWord, Weight: 3})
	}
}

// mixedWords takes the dictionary's words with hiragana in them, which the runs
// of one script would tear apart.
func (p *termParser) mixedWords() {
	for entry := range strings.SplitSeq(dictionary, "|") {
		ja, en, ok := strings.Cut(strings.TrimSpace(entry), " ")
		if ok && strings.ContainsFunc(ja, isHiragana) && strings.Contains(p.rest, ja) {
			p.add(Term{Text: ja, Kind: TermWord, Weight: 5, Also: []string{en}})
			p.rest = strings.ReplaceAll(p.rest, ja, " ")
		}
	}
}

// isJapaneseStop is true for a run that stop words make up, such as 全体構造.
func isJapaneseStop(run string) bool {
	for _, stop := range strings.Fields(japaneseStops) {
		run = strings.ReplaceAll(run, stop, "")
	}
	return len([]rune(run)) < 2
}

func longestKnown(run string) (word, en string) {
	runes := []rune(run)
	for n := len(runes); n >= 1; n-- {
		for _, part := range []string{string(runes[:n]), string(runes[len(runes)-n:])} {
			if en := translate(part); en != "" {
				return part, en
			}
		}
	}
	return "", ""
}

// japaneseRuns splits text into runs of one script.
func japaneseRuns(text string) []string {
	var runs []string
	var run []rune
	script := 0
	flush := func() {
		if len(run) > 0 {
			runs = append(runs, string(run))
		}
		run = run[:0]
	}
	for _, r := range text {
		now := 0
		switch {
		case isHan(r):
			now = 1
		case unicode.Is(unicode.Katakana, r) || r == 'ー':
			now = 2
		}
		if now != script || now == 0 {
			flush()
		}
		if now != 0 {
			run = append(run, r)
		}
		script = now
	}
	flush()
	return runs
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func isHiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

func isKana(r rune) bool { return isHiragana(r) || unicode.Is(unicode.Katakana, r) }
