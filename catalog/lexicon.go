package catalog

// stopWord reports whether a word says nothing about what a tool does: the
// English function words, and what people say around a wish.
func stopWord(w string) bool {
	switch w {
	case "a", "about", "after", "again", "all", "also", "am", "an", "and", "another", "any", "are", "as", "at",
		"be", "because", "been", "before", "being", "both", "but", "by",
		"can", "could", "currently", "did", "do", "does", "doing", "done", "don",
		"each", "either", "etc", "ever", "every", "exactly",
		"few", "for", "from", "further", "given", "had", "has", "have", "having", "hello", "help", "her", "here", "hey", "hi",
		"him", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its", "itself",
		"just", "kind", "kindly", "let", "like", "ll", "may", "me", "might", "more", "most", "must", "my", "myself",
		"need", "no", "nor", "not", "now", "of", "off", "ok", "okay", "on", "once", "only", "or", "other", "our", "out", "own",
		"please", "re", "really", "same", "she", "should", "so", "some", "such",
		"t", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
		"through", "to", "too", "tool", "try", "under", "until", "up", "us", "use", "used", "using",
		"ve", "very", "via", "want", "was", "we", "were", "what", "whats", "when", "where", "whether", "which", "while", "who",
		"whose", "why", "will", "wish", "with", "within", "without", "would", "yes", "you", "your", "yours":
		return true
	}
	return false
}

// A sort is how much a word says about what is asked for.
type sort uint8

const (
	telling sort = iota
	faint        // little: manner of speaking, though it may be what a tool is about
	stop         // nothing
)

func sortOf(w string) sort {
	switch {
	case stopWord(w):
		return stop
	case faintWord(w):
		return faint
	}
	return telling
}

// faintWord reports whether people say a word when they talk to somebody, and
// seldom mean it.
func faintWord(w string) bool {
	switch w {
	case "able", "accordingly", "actually", "always", "anyone", "anything", "appreciated", "appropriate", "around", "ask", "asked", "asking",
		"assist", "assistance", "based", "best", "better", "bit", "certain", "come", "coming", "curious",
		"decide", "decided", "different", "ensure", "enjoy", "even", "everyone", "everything", "feel", "first",
		"gave", "getting", "give", "given", "giving", "go", "goes", "going", "good", "got", "grateful", "great", "guys", "hear", "heard",
		"including", "interested", "interesting", "keep", "know", "last", "little", "look", "looking", "lot", "lots", "love",
		"make", "making", "many", "maybe", "much", "necessary", "needed", "needs", "never", "next", "nice", "often",
		"particular", "perhaps", "perform", "plan", "planning", "possible", "proceed", "provide", "provided", "quick", "quickly",
		"ready", "recently", "regarding", "related", "relevant", "required", "requirement", "right", "said", "say", "see", "seems", "seen",
		"several", "simply", "someone", "something", "soon", "sort", "specific", "still", "stuff", "sure",
		"take", "taking", "tell", "thing", "things", "think", "thinking", "today", "tried", "trying", "two", "three", "various",
		"wanted", "way", "ways", "well", "whatever", "wonder", "wondering", "worked", "working":
		return true
	}
	return false
}

// commonVerb reports whether so many names have the verb that it tells no tool
// from another.
func commonVerb(w string) bool {
	switch w {
	case "add", "create", "delete", "find", "get", "list", "new", "read", "remove", "search", "set", "show", "update", "write":
		return true
	}
	return false
}

// plainVerb reports whether a word of a name says what is done, and hardly ever
// what it is done to.
func plainVerb(w string) bool {
	switch w {
	case "abort", "accept", "activate", "add", "analyze", "append", "apply", "approve", "archive", "ask", "assign", "attach", "authenticate",
		"browse", "bulk", "cancel", "change", "check", "clear", "click", "clone", "close", "complete", "configure", "connect", "convert", "copy",
		"count", "create", "createorupdate", "deactivate", "declare", "decline", "delete", "describe", "destroy", "detach", "diagnose", "disable",
		"disconnect", "discover", "dismiss", "download", "duplicate", "edit", "emulate", "enable", "evaluate", "execute", "expand", "explain",
		"extract", "fetch", "fill", "find", "generate", "get", "give", "handle", "hide", "insert", "install", "invite", "invoke",
		"join", "kill", "launch", "learn", "leave", "list", "load", "lookup", "make", "manage", "mark", "merge", "modify", "move", "mute",
		"navigate", "open", "pause", "perform", "pin", "prepare", "press", "publish", "put", "read", "reauthorize", "recognize", "refresh", "register",
		"reject", "reload", "remove", "rename", "reorder", "replace", "rerun", "reset", "resize", "resolve", "respond", "restart",
		"restore", "resume", "retrieve", "retry", "revoke", "save", "select", "send", "set", "setup", "show", "simulate", "snooze", "sort", "start",
		"stop", "submit", "subscribe", "switch", "sync", "synthesize", "take", "terminate", "toggle", "track", "transfer", "translate",
		"unarchive", "unassign", "unlock", "unmerge", "unmute", "unpin", "unpublish", "unregister", "unset", "unstar", "unsubscribe",
		"update", "upload", "upsert", "validate", "verify", "wait", "write":
		return true
	}
	return false
}

// reading reports whether a word of a name says that a tool only tells what is
// there.
func reading(w string) bool {
	switch w {
	case "browse", "check", "count", "describe", "discover", "explain", "fetch", "find", "get", "inspect", "list", "lookup", "query", "read",
		"retrieve", "search", "show", "summarize", "view":
		return true
	}
	return false
}

// getting reports whether a word of a name says that a tool returns what it is
// about, one thing or several.
func getting(w string) bool {
	switch w {
	case "fetch", "get", "read", "retrieve", "show", "view":
		return true
	}
	return false
}

// writing reports whether a word says that something is to be changed.
func writing(w string) bool {
	switch w {
	case "abort", "accept", "activate", "add", "append", "apply", "approve", "archive", "assign", "attach", "book", "cancel", "change", "clear",
		"clone", "close", "complete", "configure", "convert", "copy", "create", "deactivate", "decline", "delete", "deploy", "destroy", "detach",
		"disable", "disconnect", "dismiss", "drop", "duplicate", "edit", "enable", "erase", "execute", "forward", "import", "insert", "install",
		"invite", "join", "kill", "launch", "leave", "lock", "make", "manage", "mark", "merge", "modify", "move", "mute", "patch", "pause", "pin",
		"post", "publish", "push", "put", "register", "reject", "remove", "rename", "reorder", "replace", "reply", "rerun", "reset", "resolve",
		"respond", "restart", "restore", "resume", "revoke", "run", "save", "schedule", "send", "set", "share", "snooze", "start", "stop",
		"submit", "subscribe", "terminate", "toggle", "transfer", "trigger", "unarchive", "unassign", "undo", "unlock", "unmute", "unpin",
		"unpublish", "unset", "unsubscribe", "update", "upload", "upsert", "write":
		return true
	}
	return false
}

// verb reports whether a word of a name may say what is done, as the "search" of
// search_code does, and that of search_index_list does not.
func verb(w string) bool {
	switch w {
	case "build", "call", "chat", "comment", "deploy", "export", "fork", "format", "forward", "import", "lock", "log", "map", "post", "preview",
		"process", "protect", "pull", "push", "query", "record", "release", "reply", "report", "request", "review", "run", "scan", "schedule",
		"search", "share", "star", "style", "test", "trace", "trigger", "view", "watch":
		return true
	}
	return plainVerb(w)
}

// generic reports whether a word says as little about a tool as "data": a
// thing that every server has, what everybody does with things, or which of
// them.
func generic(w string) bool {
	switch w {
	case "count", "data", "detail", "details", "id", "ids", "info", "information", "item", "items", "lists", "mcp", "name", "names", "status",
		"tools", "total", "value", "values",
		"add", "create", "delete", "get", "list", "manage", "patch", "post", "put", "read", "remove", "set", "show", "update", "upsert", "write",
		"across", "active", "associated", "auto", "available", "batch", "bulk", "current", "custom", "full", "global", "installed", "joined",
		"latest", "local", "long", "multiple", "new", "old", "online", "partial", "pending", "per", "preferred", "raw", "recent", "related",
		"self", "shared", "single", "specific", "supported", "unread":
		return true
	}
	return false
}
