package facade

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A modern host is asked by the result of its call and answers by another call
// (MCP 2026-07-28, basic/patterns/mrtr): roundKey is the key of our question, and
// roundLife how long it may be answered.
const (
	roundKey  = "mcpf_confirm"
	roundLife = 5 * time.Minute
)

// maxRounds is how many of the rounds that an upstream has asked for, and how
// many answers, are remembered. What is forgotten is asked again.
const maxRounds = 1000

// A round is what the requestState of a question of ours says. It is ours if its
// seal is.
type round struct {
	call    string // digest of the call that the question is about
	expires time.Time
	once    string // tells it from every other
	of      string // the process that has asked
	theirs  string // raw object: requestState and inputResponses of the upstream's own rounds that the call had
}

// confirmByRound is confirm where the question is the result of the call and the
// answer comes with the next. An answer counts once. Between its rounds with the
// upstream a call stays agreed to.
func (f *Facade) confirmByRound(ctx context.Context, c *invocation) {
	call := c.digest()
	c.learn = func(m wire.Message) { f.learnRound(call, m) }
	switch {
	case c.answer.Exists():
		if err := f.agreement(c, c.answer, ""); err != nil {
			f.deny(c, err)
			return
		}
		f.proceed(ctx, c)
	case f.underWay(c, call):
		f.proceed(ctx, c)
	case !elicits(c.m.Params.Get("_meta." + metaCapabilities)):
		f.deny(c, f.unaskable(c))
	case f.declinedForGood(c):
		f.deny(c, f.declined(c))
	default:
		f.searches.called()
		f.reply(c.m, f.roundResult(c, call))
	}
}

// roundResult asks the host, which is to answer with the next request.
func (f *Facade) roundResult(c *invocation, call string) []byte {
	r := round{call: call, expires: time.Now().Add(roundLife), once: rand.Text(), of: f.me, theirs: theirRound(c.frame)}
	b := append([]byte(`{"resultType":"input_required","inputRequests":{"`+roundKey+`":{"method":"elicitation/create","params":`), f.elicitation(c)...)
	b = wire.AppendString(append(b, `}},"requestState":`...), f.seal(r))
	return append(b, '}')
}

// takeRound takes out of a call what belongs to a question of ours: the state,
// which it is given with every answer, and the answer. That counts if the question
// was about the same call and is neither old nor answered: only the process that
// has asked knows that, so any other asks again.
func (f *Facade) takeRound(c *invocation) {
	if c.view.key.Era != modern {
		return
	}
	r, ours := f.unseal(c.m.Params.Get("requestState").Str)
	if !ours {
		return
	}
	same := r.call == c.digest()
	if !same {
		r.theirs = "{}"
	}
	c.frame = withoutRound(c.frame, r.theirs)
	if same && r.of == f.me && time.Now().Before(r.expires) && f.first(r) {
		c.answer = c.m.Params.Get("inputResponses." + roundKey)
	}
}

// withoutRound is the frame of a call without a state and an answer of ours, and
// with what it had of the upstream's rounds before the question.
func withoutRound(frame []byte, theirs string) []byte {
	m, err := wire.Parse(frame)
	if err != nil {
		return frame
	}
	answers := wire.DeleteMember([]byte(m.Params.Get("inputResponses").Raw), roundKey)
	params := wire.DeleteMember(wire.DeleteMember([]byte(m.Params.Raw), "requestState"), "inputResponses")
	if rest := gjson.ParseBytes(answers); rest.IsObject() && !isEmpty(rest) {
		params = wire.SetMember(params, "inputResponses", answers)
	}
	for _, put := range members(gjson.Parse(theirs)) {
		params = wire.SetMember(params, put.key, []byte(put.value.Raw))
	}
	return wire.Splice(frame, m.Params, params)
}

// theirRound is what a frame has of the upstream's own rounds: a raw object.
func theirRound(frame []byte) string {
	var all []part
	for _, m := range members(gjson.GetBytes(frame, "params")) {
		if m.key == "requestState" || m.key == "inputResponses" {
			all = append(all, m)
		}
	}
	return object(all).Raw
}

// learnRound notes whether the upstream asks for another round of a call that
// the user has agreed to.
func (f *Facade) learnRound(call string, m wire.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.rounds, call)
	if m.Result.Get("resultType").Str == "input_required" {
		note(f.rounds, call, time.Now().Add(consentWait))
	}
}

// underWay reports whether a call is the next round of one that the user has
// agreed to. It is the last time that this is so, unless the upstream asks again.
func (f *Facade) underWay(c *invocation, call string) bool {
	if theirRound(c.frame) == "{}" {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	until, known := f.rounds[call]
	delete(f.rounds, call)
	return known && time.Now().Before(until)
}

// first reports whether a question is answered for the first time.
func (f *Facade) first(r round) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.spent[r.once]
	return !known && note(f.spent, r.once, r.expires)
}

// note remembers something until a time. It reports false if there is too much.
func note(known map[string]time.Time, what string, until time.Time) bool {
	if len(known) >= maxRounds {
		maps.DeleteFunc(known, func(_ string, until time.Time) bool { return time.Now().After(until) })
	}
	if len(known) >= maxRounds {
		return false
	}
	known[what] = until
	return true
}

// digest tells a call from those of other tools and with other arguments.
func (c *invocation) digest() string {
	sum := sha256.Sum256([]byte(c.tool + "\x00" + ugly(gjson.Parse(orNothing(c.args)))))
	return hex.EncodeToString(sum[:])
}

// statePrefix begins every requestState of ours.
const statePrefix = "mcpf."

// seal is a round as a requestState.
func (f *Facade) seal(r round) string {
	b := fmt.Appendf(nil, `{"call":%q,"expires":%d,"once":%q,"of":%q,"theirs":%s}`, r.call, r.expires.Unix(), r.once, r.of, r.theirs)
	return statePrefix + base64.RawURLEncoding.EncodeToString(b) + "." + base64.RawURLEncoding.EncodeToString(f.sign(b))
}

// unseal reads a requestState. It reports whether that is one of ours.
func (f *Facade) unseal(state string) (round, bool) {
	text, ours := strings.CutPrefix(state, statePrefix)
	text, seal, whole := strings.Cut(text, ".")
	if !ours || !whole {
		return round{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	given, err2 := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || err2 != nil || !hmac.Equal(given, f.sign(b)) {
		return round{}, false
	}
	r := gjson.ParseBytes(b)
	return round{r.Get("call").Str, time.Unix(r.Get("expires").Int(), 0), r.Get("once").Str, r.Get("of").Str, r.Get("theirs").Raw}, true
}

func (f *Facade) sign(b []byte) []byte {
	mac := hmac.New(sha256.New, f.key)
	mac.Write(b)
	return mac.Sum(nil)
}

// sealKey is what the states of one server are sealed with: a random key, if
// there is none of the user's.
func sealKey(key []byte, server string) []byte {
	if key == nil {
		key = []byte(rand.Text())
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(roundKey + "\x00" + server))
	return mac.Sum(nil)
}
