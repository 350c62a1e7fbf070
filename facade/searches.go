package facade

import (
	"context"
	"slices"
	"sync"
	"time"

	"mcp-facade/facade/wire"
)

// How long a search counts for the limit after the one before, and how long a
// call may come after the search that has led to it. A process is no
// conversation, since agents may share it: what is longer ago is somebody else's.
const (
	searchWindow = time.Minute
	ledWindow    = 10 * time.Minute
)

// maxOpen is how many searches wait for a call that they may lead to.
const maxOpen = 8

// searches are what has been looked for lately. Its methods may be called
// concurrently.
type searches struct {
	mu    sync.Mutex
	last  time.Time            // of the last one since a call; guarded by mu, like all below
	spent [][]string           // the words of those that have shown nothing new since then
	shown map[string]time.Time // when a tool was shown last
	open  []openSearch         // the oldest first
}

// An openSearch is a search and the tools that it has shown and that were not
// called since.
type openSearch struct {
	at    time.Time
	words []string
	tools []string
}

// unlike is how many searches for other things count as one for the same: agents
// that share the process may look for each, but not all the time.
const unlike = 3

// maxSpent is how many searches are remembered: more than any limit needs.
const maxSpent = 100

// spend notes a search that shows some tools, and returns how many like it have
// shown nothing new, this one included; 0 if it has.
func (s *searches) spend(query string, tools []string) (times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	lately := func(at time.Time) bool { return !at.IsZero() && now.Sub(at) <= searchWindow }
	if !lately(s.last) {
		s.spent, s.shown = nil, map[string]time.Time{}
	}
	fresh := !lately(s.last) || slices.ContainsFunc(tools, func(tool string) bool { return !lately(s.shown[tool]) })
	for _, tool := range tools {
		s.shown[tool] = now
	}
	s.last = now
	if fresh {
		return 0
	}
	words := stems(query)
	s.spent = append(s.spent[max(0, len(s.spent)-maxSpent+1):], words)
	for _, other := range s.spent {
		if slices.Equal(words, other) {
			times++
		}
	}
	return max(times, len(s.spent)/unlike)
}

// stemLength is how many characters of a word tell it from others, whatever it
// ends in.
const stemLength = 5

// stems are the words of a query by which it is like another, sorted.
func stems(query string) []string {
	words := lettered(query[:min(len(query), maxWords)], "")
	for i, word := range words {
		words[i] = cut(word, stemLength, "")
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// maxWords is how much of a query is compared with others, in bytes.
const maxWords = 1000

// called notes that a tool is called: what comes next is a new search.
func (s *searches) called() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Time{}
}

// wait keeps a search until one of its tools is called.
func (s *searches) wait(words, tools []string) {
	if len(words) == 0 || len(tools) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open[max(0, len(s.open)-maxOpen+1):], openSearch{time.Now(), words, slices.Clone(tools)})
}

// led reports whether a search has shown the tool lately.
func (s *searches) led(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.open, func(o openSearch) bool { return o.leads(tool) })
}

// take returns the words of the searches that have lately shown the tool, each
// once.
func (s *searches) take(tool string) (all [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.open {
		if o.leads(tool) {
			all = append(all, o.words)
			s.open[i].tools = slices.DeleteFunc(o.tools, func(other string) bool { return other == tool })
		}
	}
	return all
}

func (o *openSearch) leads(tool string) bool {
	return slices.Contains(o.tools, tool) && time.Since(o.at) <= ledWindow
}

// lesson is what is shown the answer to a call, nil for nothing: what the call
// wants to be shown it, and what learns from it that the searches which have
// shown the tool were for it, unless it fails.
func (f *Facade) lesson(ctx context.Context, c *invocation) func(wire.Message) {
	tool, learn := c.tool, c.learn
	if !f.searches.led(tool) {
		return learn
	}
	return func(m wire.Message) {
		if learn != nil {
			learn(m)
		}
		if !m.Result.Exists() || m.Result.Get("isError").Bool() || m.Result.Get("resultType").Str == "input_required" {
			return
		}
		searches := f.searches.take(tool)
		f.spawn(func() {
			for _, words := range searches {
				if err := f.o.Lessons.Learn(ctx, words, tool); err != nil {
					f.log.Debug("nothing learnt", "tool", spelled(tool), "err", err)
				}
			}
		})
	}
}
