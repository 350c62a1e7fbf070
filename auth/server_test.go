package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server is an upstream and its authorization server in one, as strict as OAuth
// 2.1 allows one to be: a code and a refresh token count once, and one that comes
// a second time ends the grant. Its fields say what it is like, before it is used.
type server struct {
	*httptest.Server
	lifetime  time.Duration               // of access tokens
	expires   any                         // expires_in of an answer; nil: lifetime
	slow      time.Duration               // how long a refresh takes
	noPRM     bool                        // it has no description of the resource
	challenge string                      // of a 401; "": where the description is
	meta      map[string]any              // over the description of the authorization server; a nil value removes
	prm       map[string]any              // over that of the resource
	metaAt    string                      // where the first is; "": RFC 8414
	prmAt     string                      // where the second is; "": for the path
	handle    map[string]http.HandlerFunc // in the place of what stands at a path
	redirect  func(url.Values)            // changes what the browser brings back
	strict    bool                        // the redirect has to be the registered one, port and all
	secret    string                      // of clients; "": they are public
	scope     string                      // that a call wants
	noRefresh bool

	mu                                                          sync.Mutex
	clients                                                     map[string]string // id → redirect
	codes                                                       map[string]url.Values
	access                                                      map[string]*family
	refresh                                                     map[string]*family
	spent                                                       map[string]*family
	seen                                                        []string // method, path, and what is worth it of each request
	registered, refreshes, replays, now, most, revoked, refused int
}

// A family is all tokens that came from one login.
type family struct {
	ended  bool
	scope  string
	access map[string]time.Time // → its end
}

func newServer(t *testing.T, set func(*server)) *server {
	t.Helper()
	s := &server{
		lifetime: time.Hour, meta: map[string]any{}, prm: map[string]any{}, handle: map[string]http.HandlerFunc{},
		clients: map[string]string{}, codes: map[string]url.Values{}, access: map[string]*family{}, refresh: map[string]*family{}, spent: map[string]*family{},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	if set != nil {
		set(s)
	}
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	how := ""
	if _, _, basic := r.BasicAuth(); basic {
		how = "basic"
	} else if r.PostForm.Has("client_secret") {
		how = "body"
	}
	s.mu.Lock()
	s.seen = append(s.seen, strings.Join(strings.Fields(r.Method+" "+r.URL.Path+" "+r.Form.Get("grant_type")+" "+how), " "))
	handle, ok := s.handle[r.URL.Path]
	s.mu.Unlock()
	prmAt, metaAt := s.prmAt, s.metaAt
	if prmAt == "" {
		prmAt = "/.well-known/oauth-protected-resource/mcp"
	}
	if metaAt == "" {
		metaAt = "/.well-known/oauth-authorization-server"
	}
	switch {
	case ok:
		handle(w, r)
	case r.URL.Path == "/mcp":
		s.call(w, r)
	case r.URL.Path == prmAt && !s.noPRM:
		s.describe(w, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}}, s.prm)
	case r.URL.Path == metaAt:
		s.describe(w, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		}, s.meta)
	case r.URL.Path == "/authorize":
		s.authorize(w, r)
	case r.URL.Path == "/token":
		s.token(w, r)
	case r.URL.Path == "/register":
		s.register(w, r)
	case r.URL.Path == "/revoke":
		s.revoke(w, r)
	default:
		http.NotFound(w, r)
	}
}

// change changes what the server is like while it is used.
func (s *server) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

// endTokens has all access tokens end.
func (s *server) endTokens() { s.change(func() { clear(s.access) }) }

func (s *server) describe(w http.ResponseWriter, doc, over map[string]any) {
	maps.Copy(doc, over)
	maps.DeleteFunc(doc, func(_ string, v any) bool { return v == nil })
	answerJSON(w, 200, doc)
}

func answerJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(doc)
}

// call is a request to the upstream.
func (s *server) call(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	f := s.access[token]
	switch {
	case f == nil || f.ended || time.Now().After(f.access[token]):
		challenge := s.challenge
		if challenge == "" && !s.noPRM {
			challenge = `Bearer resource_metadata="` + s.URL + s.prmPath() + `"`
		}
		if challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
		}
		s.refused++
		w.WriteHeader(401)
	case s.scope != "" && !slices.Contains(strings.Fields(f.scope), s.scope):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+s.scope+`"`)
		w.WriteHeader(403)
	default:
		w.Write([]byte("called"))
	}
}

func (s *server) prmPath() string {
	if s.prmAt != "" {
		return s.prmAt
	}
	return "/.well-known/oauth-protected-resource/mcp"
}

// authorize is the page where a person would allow it: this one does at once.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	known, ok := s.clients[q.Get("client_id")]
	switch {
	case !ok, s.strict && known != back.String(), err != nil, back.Hostname() != "127.0.0.1":
		http.Error(w, "unknown client or redirect", 400)
		return
	case q.Get("code_challenge_method") != "S256", q.Get("code_challenge") == "", q.Get("state") == "", q.Get("response_type") != "code", q.Get("resource") == "":
		http.Error(w, "something is missing", 400)
		return
	}
	code := rand.Text()
	s.codes[code] = q
	v := url.Values{"code": {code}, "state": {q.Get("state")}}
	if s.redirect != nil {
		s.redirect(v)
	}
	back.RawQuery = v.Encode()
	http.Redirect(w, r, back.String(), 302)
}

func (s *server) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.Redirects) != 1 {
		answerJSON(w, 400, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registered++
	id := fmt.Sprintf("client-%d", s.registered)
	s.clients[id] = m.Redirects[0]
	doc := map[string]any{"client_id": id, "redirect_uris": m.Redirects, "token_endpoint_auth_method": "none"}
	if s.secret != "" {
		doc["client_secret"], doc["client_secret_expires_at"], doc["token_endpoint_auth_method"] = s.secret, 0, "client_secret_basic"
	}
	answerJSON(w, 201, doc)
}

// clientOf is who sends a request to the token endpoint; "" is nobody.
func (s *server) clientOf(r *http.Request) string {
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if _, ok := s.clients[id]; !ok || secret != s.secret {
		return ""
	}
	return id
}

func (s *server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.now++; s.now > s.most {
		s.most = s.now
	}
	s.mu.Unlock()
	if s.slow > 0 {
		time.Sleep(s.slow)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	id, form := s.clientOf(r), r.PostForm
	switch {
	case id == "":
		answerJSON(w, 401, map[string]any{"error": "invalid_client"})
	case form.Get("resource") == "":
		answerJSON(w, 400, map[string]any{"error": "invalid_target"})
	case form.Get("grant_type") == "client_credentials" && s.secret != "":
		s.issue(w, &family{scope: form.Get("scope"), access: map[string]time.Time{}}, false)
	case form.Get("grant_type") == "refresh_token":
		s.refreshes++
		token := form.Get("refresh_token")
		if f := s.spent[token]; f != nil {
			s.replays++
			f.ended = true
		}
		f := s.refresh[token]
		if f == nil || f.ended {
			answerJSON(w, 400, map[string]any{"error": "invalid_grant", "error_description": "no such token: " + token})
			return
		}
		delete(s.refresh, token)
		s.spent[token] = f
		s.issue(w, f, true)
	case form.Get("grant_type") == "authorization_code":
		q := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if q == nil || q.Get("client_id") != id || q.Get("redirect_uri") != form.Get("redirect_uri") || q.Get("resource") != form.Get("resource") ||
			q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			answerJSON(w, 400, map[string]any{"error": "invalid_grant"})
			return
		}
		s.issue(w, &family{scope: q.Get("scope"), access: map[string]time.Time{}}, !s.noRefresh)
	default:
		answerJSON(w, 400, map[string]any{"error": "unsupported_grant_type"})
	}
}

// issue answers with the next tokens of a family. The access tokens before the
// last one end, as with the strictest.
func (s *server) issue(w http.ResponseWriter, f *family, renewable bool) {
	for token := range f.access {
		delete(s.access, token)
	}
	access := "at-" + rand.Text()
	f.access = map[string]time.Time{access: time.Now().Add(s.lifetime)}
	s.access[access] = f
	doc := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": s.lifetime.Seconds(), "scope": f.scope}
	if s.expires != nil {
		doc["expires_in"] = s.expires
	}
	if renewable {
		refresh := "rt-" + rand.Text()
		s.refresh[refresh] = f
		doc["refresh_token"] = refresh
	}
	answerJSON(w, 200, doc)
}

func (s *server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.refresh[r.PostForm.Get("token")]; f != nil && s.clientOf(r) != "" {
		f.ended = true
		s.revoked++
	}
}

// source is an OAuth for the upstream.
func (s *server) source(t *testing.T, dir string, set func(*Options)) *OAuth {
	t.Helper()
	opt := Options{Server: "acme", Upstream: s.URL + "/mcp", Store: testStore(dir), Agent: "test"}
	if set != nil {
		set(&opt)
	}
	return NewOAuth(opt)
}

// testStore has no keyring.
func testStore(dir string) *Store { return OpenStore(dir, nil) }

// browse is a browser in which the person says yes.
func browse(t *testing.T) func(string) error {
	return func(to string) error {
		go func() {
			resp, err := http.Get(to)
			if err == nil {
				resp.Body.Close()
			}
		}()
		return nil
	}
}

// logIn has the person log in.
func (s *server) logIn(t *testing.T, o *OAuth) error {
	t.Helper()
	return o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: browse(t), wait: 10 * time.Second})
}

// use makes one call as facade/upstream does: with what Token gives, and once
// more after a refresh. It returns the status.
func (s *server) use(t testing.TB, o *OAuth) (int, error) {
	for first := true; ; first = false {
		token, err := o.Token(t.Context())
		if err != nil {
			return 0, err
		}
		req, _ := http.NewRequestWithContext(t.Context(), "POST", o.Upstream, nil)
		if token != "" {
			req.Header.Set("Authorization", token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		if resp.StatusCode != 401 || !first {
			return resp.StatusCode, nil
		}
		if err := o.Refresh(t.Context(), token, resp); err != nil {
			return resp.StatusCode, err
		}
	}
}
