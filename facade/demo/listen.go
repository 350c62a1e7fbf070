package demo

import (
	"slices"

	"mcp-facade/facade/wire"
)

// A listen is the wish to hear of changes: of one resource, or of none while
// the request that asked is only held open.
type listen struct {
	id  string // the raw id of the subscriptions/listen; "" for a legacy subscription
	key string // the id as wire.Key gives it
	uri string // "" for none
}

// listen acknowledges a subscriptions/listen and holds it: its answer comes
// when the connection ends. The lists of this server never change, so changed
// resources are all that it agrees to.
func (s *server) listen(r *request) {
	want := r.Params.Get("notifications")
	if !want.IsObject() {
		s.respond(r, "", invalid("missing \"notifications\", an object"))
		return
	}
	agreed := "{}"
	held := []listen{{id: r.ID.Raw, key: r.Key()}}
	if uris := want.Get("resourceSubscriptions"); uris.IsArray() {
		agreed = object("resourceSubscriptions", uris.Raw)
		for _, uri := range uris.Array() {
			held = append(held, listen{r.ID.Raw, r.Key(), uri.Str})
		}
	}
	s.mu.Lock()
	s.listens = append(s.listens, held...)
	s.mu.Unlock()
	s.notify("notifications/subscriptions/acknowledged", "_meta", subscription(r.ID.Raw), "notifications", agreed)
}

func subscription(id string) string {
	return object("io.modelcontextprotocol/subscriptionId", id)
}

func (s *server) subscribe(uri string) (string, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, f := s.store.resource(uri); f != nil {
		return "", f
	}
	if l := (listen{uri: uri}); !slices.Contains(s.listens, l) {
		s.listens = append(s.listens, l)
	}
	return "{}", nil
}

func (s *server) unlisten(gone func(listen) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens = slices.DeleteFunc(s.listens, gone)
}

// announce tells who listens which resources have changed since the last time.
func (s *server) announce() {
	s.mu.Lock()
	changed, listens := s.store.takeTouched(), slices.Clone(s.listens)
	s.mu.Unlock()
	for _, l := range listens {
		if !slices.Contains(changed, l.uri) {
			continue
		}
		params := []string{"uri", quote(l.uri)}
		if l.id != "" {
			params = append(params, "_meta", subscription(l.id))
		}
		s.notify("notifications/resources/updated", params...)
	}
}

// endListens answers the requests that are held.
func (s *server) endListens() {
	s.mu.Lock()
	listens := s.listens
	s.listens = nil
	s.mu.Unlock()
	for _, l := range listens {
		if l.id != "" && l.uri == "" {
			result := object("resultType", `"complete"`, "_meta", subscription(l.id))
			s.out.Send(wire.Response(l.id, []byte(result)))
		}
	}
}

// logged tells a host that asked for messages what a call has changed.
func (s *server) logged(r *request, tool string, changed []string, verbose bool) {
	if r.modern {
		level := r.meta("logLevel").Str
		verbose = level == "debug" || level == "info"
	}
	if len(changed) == 0 || !verbose {
		return
	}
	data := object("tool", quote(tool), "changed", array(quoted(changed)))
	s.notify("notifications/message", "level", `"info"`, "logger", `"tracker"`, "data", data)
}
