package investigate

func englishLabels() labels {
	return labels{
		Title: "Investigation", Answer: "Answer", Places: "Where it is implemented", Inside: "How it works inside",
		Depends: "Depends on", Dependents: "What depends on it", Tests: "Tests", Quality: "Quality", Mentions: "Other lines that mention it",
		Named: "Files named like it", Gaps: "What could not be found out", Done: "What was done", Survey: "Overview of the code base",
		Signature: "Signature", Callers: "Used from", Callees: "Calls", Tree: "Call tree", Variables: "Package variables it uses", Related: "Related types",
		Todos: "Left undone by the authors", Entries: "Entry points", Packages: "Biggest packages", HotSpots: "Longest functions", More: "more with",
		Implemented: "`%s` (%s) is the best match.", SeeAlso: "See also:", Nothing: "Nothing in this code base matches %s (%s searched).",
		OnlyLines: "No declaration is named after %s, but these places mention it:", Overview: "The code base has %s (%s).",
		BeginsAt: "It begins at:", Biggest: "The biggest package is %s with %s.", NamesFile: "The question names this file:", Declares: "It declares:",
		NotFound: "%s was found nowhere", NoFile: "%s: there is no such file", QuestionCut: "the question was too long; only its beginning was read",
		EmptyTree: "anything at all: there are no files to read in %s", Empty: "There are no files in %s.",
		None: "nothing", ByName: "matched by name, not by type", Cut: "%d of %d shown", Spilled: "all in", Problems: "Not read", Graph: "Dependencies",
		Central: "Imported most", Rest: "%d more in the reports as JSON and HTML",

		CalledBy:   plural{"`%s` is used from %d place.", "`%s` is used from %d places."},
		CallsOut:   plural{"`%s` calls %d function.", "`%s` calls %d functions."},
		TestedBy:   plural{"`%s` is touched by %d test.", "`%s` is touched by %d tests."},
		Lines:      plural{"%d line", "%d lines"},
		Files:      plural{"%d file", "%d files"},
		Folders:    plural{"%d folder", "%d folders"},
		Decls:      plural{"%d declaration", "%d declarations"},
		Complexity: ", complexity %d", Comma: ", ",
		ForWork: "The built-in engine has no model: it cannot write, change or run anything, it only finds what the words name in the code. For work like this use an engine with a model: `orchestrator-cc up --engine NAME`",
		ForChat: "The built-in engine has no model: it only finds what the words name in the code. These name nothing, so what follows is an overview.",
		ForWeak: "No name in the code fits these words well: the built-in engine has no model, it only finds what the words name.",
		ForMore: "For more than that use an engine with a model: `orchestrator-cc up --engine NAME`",

		Sums: sums{Tree: "%s in %s", Grep: "%s in %s (%d searched)", Survey: "survey of %s", Static: "%s analysed"},
		Notes: notes{
			Analysed: "%d of %d matching declarations analysed", NoMatch: "no declaration matches %s", Looked: "%s: only %d of %d lines that mention it were looked at",
			TestsOf: "tests of %s: the first %d are shown", Shown: "%s: %d of %d shown", TooCommon: "%s: only the first files were read, the name is too common",
			TooLarge: "types: the packages around it are too large to check them all, some calls may be missing", Checked: "%s: %d of %d packages were checked",
			Untyped:   "%s at %s:%d was not type-checked (another platform's file, or it does not compile): calls are matched by name",
			ImportsOf: "imports of %s", DependentsOf: "dependents of %s", CallsIn: "calls in %s", CallersOf: "callers of %s", RelatedTo: "types related to %s", UsersOf: "users of %s",
			TopLevel: "package level", Through: "through %s", ImplementedBy: "implemented by %s", Implements: "implements %s",
		},
	}
}
