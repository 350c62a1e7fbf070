package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/wire"
)

// An activity is how a server was used, by the records of its ledger.
type activity struct {
	From       time.Time `json:"from"` // the first record
	To         time.Time `json:"to"`   // the last one
	Sessions   int       `json:"sessions"`
	Whole      int       `json:"wholeSessions"` // of those, the ones that were given every tool
	Calls      int       `json:"calls"`         // that the upstream has answered
	Direct     int       `json:"direct"`        // of those, by the tool's own name
	Via        int       `json:"call"`          // of those, by call
	Failed     int       `json:"failed"`        // of those, with an error
	Refused    int       `json:"refused"`       // not sent
	Unanswered int       `json:"unanswered"`    // cancelled or lost, perhaps not sent
	Discover   traffic   `json:"discover"`
	Describe   traffic   `json:"describe"`
	Envelope   traffic   `json:"envelope"` // what call takes more than a direct call
	Days       []day     `json:"days"`     // those with records, in their order
	Unread     int       `json:"unread"`   // lines of the ledger
}

// traffic is what there would not be without the facade, in tokens.
type traffic struct {
	Times  int `json:"times"`
	Tokens int `json:"tokens"`
}

func (t *traffic) add(tokens int) {
	t.Times++
	t.Tokens += tokens
}

// tokens is all the traffic of the period.
func (u *activity) tokens() int { return u.Discover.Tokens + u.Describe.Tokens + u.Envelope.Tokens }

// A day is one of UTC.
type day struct {
	Day      string `json:"day"`
	Sessions int    `json:"sessions"` // that began on it
	Calls    int    `json:"calls"`
}

// A session is one process that served a host.
type session struct {
	began  time.Time
	kind   string // what it was shown, "" if its record is gone
	tokens int    // of its list; 0: not known
}

// maxTokens bounds what one record may count for: nothing that a model reads is
// larger, and a damaged ledger must not overflow a sum.
const maxTokens = 10_000_000

// activityOf sums up the records, nil if there are none.
func activityOf(s *config.Server, records []ledger.Record, unread int) *activity {
	if len(records) == 0 {
		return nil
	}
	u := &activity{From: records[0].Time.UTC(), To: records[0].Time.UTC(), Unread: unread, Days: []day{}}
	days := map[string]*day{}
	on := func(t time.Time) *day {
		key := t.UTC().Format(time.DateOnly)
		if days[key] == nil {
			days[key] = &day{Day: key}
		}
		return days[key]
	}
	for _, r := range records {
		if at := r.Time.UTC(); at.Before(u.From) {
			u.From = at
		} else if at.After(u.To) {
			u.To = at
		}
		before := u.Calls
		u.add(s, r)
		on(r.Time).Calls += u.Calls - before
	}
	for _, one := range sessionsOf(records) {
		u.Sessions++
		on(one.began).Sessions++
		if one.kind == "all" {
			u.Whole++
		}
	}
	for _, d := range days {
		u.Days = append(u.Days, *d)
	}
	slices.SortFunc(u.Days, func(a, b day) int { return strings.Compare(a.Day, b.Day) })
	return u
}

// add counts one record.
func (u *activity) add(s *config.Server, r ledger.Record) {
	switch r.Via {
	case ledger.Discover:
		u.Discover.add(tokensOf(r))
	case ledger.Describe:
		u.Describe.add(tokensOf(r))
	case ledger.Call:
		u.Envelope.add(envelopeTokens(s, r.Tool))
		u.addCall(&u.Via, r)
	case ledger.Direct:
		u.addCall(&u.Direct, r)
	}
}

func (u *activity) addCall(way *int, r ledger.Record) {
	switch {
	case r.Outcome == ledger.Refused:
		u.Refused++
		return
	case !r.Reached():
		u.Unanswered++
		return
	case r.Outcome == ledger.Failed:
		u.Failed++
	}
	*way++
	u.Calls++
}

func tokensOf(r ledger.Record) int { return min(max(r.Tokens, 0), maxTokens) }

// envelopeTokens estimates what a model writes more for a call by call than for
// one by the tool's own name.
func envelopeTokens(s *config.Server, tool string) int {
	const longest = 200 // bytes of a name that a host may still take
	tool = tool[:min(len(tool), longest)]
	by := compact.Tokens(fmt.Appendf(nil, `mcp__%s__%scall{"tool":%s,"args":{}}`, s.Name, s.Prefix, wire.AppendString(nil, tool)))
	return max(0, by-compact.Tokens(fmt.Appendf(nil, `mcp__%s__%s{}`, s.Name, tool)))
}

// sessionsOf are the sessions that left records, in the order of those.
func sessionsOf(records []ledger.Record) (all []session) {
	at := map[string]int{}
	for _, r := range records {
		i, ok := at[r.Session]
		if !ok {
			i = len(all)
			at[r.Session] = i
			all = append(all, session{began: r.Time})
		}
		if r.Via == ledger.Session {
			all[i].kind, all[i].tokens = r.Surface, tokensOf(r)
		}
	}
	return all
}

// A toolCount is how one tool was used.
type toolCount struct{ direct, via, failed, found int }

// countTools counts the calls of each tool that have reached it, and the searches
// that have shown it, by the upstream's name. "" has the calls of names that no
// catalog had.
func countTools(records []ledger.Record) map[string]toolCount {
	counts := map[string]toolCount{}
	for _, r := range records {
		for _, name := range r.Found {
			n := counts[name]
			n.found++
			counts[name] = n
		}
		n := counts[r.Tool]
		switch {
		case !r.Reached():
			continue
		case r.Via == ledger.Direct:
			n.direct++
		default:
			n.via++
		}
		if r.Outcome == ledger.Failed {
			n.failed++
		}
		counts[r.Tool] = n
	}
	return counts
}
