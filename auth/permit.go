package auth

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The grants of OAuth 2.1 by which we get a token.
const (
	byCode        = "authorization_code" // a person has allowed it in a browser
	byCredentials = "client_credentials" // the client itself is allowed to
)

// A Permit is what an authorization server has given us for one upstream, as it
// is kept in a Store. It never changes once made.
type Permit struct {
	Upstream string `json:"upstream"` // its URL, as the key has it
	Account  string `json:"account"`  // the client id of the config, part of the key; "": none is set
	Issuer   string `json:"issuer"`   // of the authorization server

	Resource  string `json:"resource"` // goes with each request for a token: RFC 8707
	TokenURL  string `json:"tokenUrl"`
	RevokeURL string `json:"revokeUrl"` // "": the server revokes nothing
	Client    client `json:"client"`
	By        string `json:"by"` // byCode or byCredentials

	Access  Secret   `json:"-"`
	Renewal Secret   `json:"-"`      // the refresh token; "": there is none
	Scopes  []string `json:"scopes"` // that the server has granted, or that were asked for
	Wanted  []string `json:"wanted"` // that the upstream has asked for since

	Begun    time.Time     `json:"begun"`    // when the person allowed it
	Obtained time.Time     `json:"obtained"` // when Access came
	Lifetime time.Duration `json:"lifetime"` // of Access; 0: not known
	Refused  bool          `json:"refused"`  // the server has said that it takes Renewal no more
}

// A record is a Permit as it is written: the only place where secrets are.
type record struct {
	Permit
	Access  string `json:"accessToken"`
	Renewal string `json:"refreshToken,omitempty"`
	Secret  string `json:"clientSecret,omitempty"`
}

func (p *Permit) encode() []byte {
	text, _ := json.Marshal(record{*p, string(p.Access), string(p.Renewal), string(p.Client.Secret)})
	return text
}

var errDamaged = errors.New("is damaged")

func decodePermit(text []byte) (*Permit, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.Issuer == "" || r.TokenURL == "" {
		return nil, errDamaged
	}
	p := r.Permit
	p.Access, p.Renewal, p.Client.Secret = Secret(r.Access), Secret(r.Renewal), Secret(r.Secret)
	return &p, nil
}

// expires is when Access ends by the clock of this machine; the zero time if
// that is not known.
func (p *Permit) expires() time.Time {
	if p.Lifetime <= 0 {
		return time.Time{}
	}
	return p.Obtained.Add(p.Lifetime)
}

// isOver reports whether Access has ended by the clock on the wall. Where that has
// been set back, the upstream is the one that says so.
func (p *Permit) isOver(now time.Time) bool {
	return p.Lifetime > 0 && !now.Before(p.expires())
}

// isDue reports whether Access should be renewed before it is used: from a
// minute before its end on, or a quarter of a short life. luck, from 0 to 1, has
// several processes not come at once.
func (p *Permit) isDue(now time.Time, luck float64) bool {
	margin := min(early, p.Lifetime/4)
	margin += time.Duration(luck * float64(margin) / 2)
	return p.isOver(now.Add(margin))
}

// renewable reports whether there is a way to get another Access without a
// person.
func (p *Permit) renewable() bool { return p.By == byCredentials || p.Renewal != "" }

// with is the permit after an answer of the token endpoint. A server that
// rotates no refresh tokens gives none, and the old one goes on.
func (p *Permit) with(a answer, now time.Time) *Permit {
	next := *p
	next.Access, next.Obtained, next.Lifetime, next.Refused = a.access, now.Round(0), a.lifetime, false
	if a.refresh != "" {
		next.Renewal = a.refresh
	}
	if a.scopes != nil {
		next.Scopes = a.scopes
	}
	return &next
}

// union gives the scopes of all lists, each once, in their order.
func union(lists ...[]string) (all []string) {
	for _, list := range lists {
		for _, s := range list {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// authorization is the value of the header.
func (p *Permit) authorization() string { return "Bearer " + string(p.Access) }

// luck is a number of this process for isDue.
func luck() float64 { return rand.Float64() }

// fields are the words of a scope parameter.
func fields(scope string) []string { return strings.Fields(scope) }
