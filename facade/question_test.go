package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestAnswerToADeadUpstream shows that the host's answer to a question of an
// upstream that is gone is not taken for the answer to one that its successor
// asks: each process counts its ids from the same number.
func TestAnswerToADeadUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = func(*fakeConn, wire.Message) ([]string, bool) { return nil, false }
		d := start(t, Options{}, up)
		d.open()
		d.said()
		ask := func(id, what string) string { return line(id, "elicitation/create", `{"message":"`+what+`"}`) }
		said := func(id, what string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"to":"` + what + `"}}`
		}
		up.last().write(ask("1", "delete a?"))
		up.last().write(ask("2", "delete b?"))
		d.expect("two questions", ask("1", "delete a?"), ask("2", "delete b?"))
		d.send(said("2", "b"))
		d.said()
		up.last().die("exit status 1")
		d.expect("a death", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the server has ended"}}`)
		d.ask("5", "vendor/x", "{}")

		up.last().write(ask("1", "delete everything?"))
		up.last().write(ask("2", "delete c?"))
		told := d.said()
		if len(told) != 2 || told[1] != ask("2", "delete c?") {
			t.Fatalf("the host is told %q", told)
		}
		m, err := wire.Parse([]byte(told[0]))
		if err != nil || m.ID.Raw == "1" || m.Params.Get("message").Str != "delete everything?" {
			t.Errorf("the host is asked %s, want another id than what it may still answer", told[0])
		}
		d.send(said("1.0", "a"))
		d.send(said(m.ID.Raw, "everything"))
		d.send(said("2", "c"))
		d.said()
		want := []string{said("2", "b"), line("5", "vendor/x", "{}"), said("1", "everything"), said("2", "c")}
		if diff := cmp.Diff(want, heard(up)); diff != "" {
			t.Errorf("the upstream hears (-want +got):\n%s", diff)
		}

		up.last().write(ask("1", "delete d?"))
		d.expect("a question after the late answer", ask("1", "delete d?"))
	})
}

// TestQuestionWithAnotherIDIsTakenBack shows that a question whose id is not the
// upstream's own can be cancelled by it, and is when it dies.
func TestQuestionWithAnotherIDIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{}, up)
		d.open()
		d.said()
		asked := func() string {
			up.last().write(line(`"q"`, "roots/list", ""))
			told := d.said()
			if len(told) != 1 {
				t.Fatalf("the host is told %q", told)
			}
			m, err := wire.Parse([]byte(told[0]))
			if err != nil {
				t.Fatal(err)
			}
			return m.ID.Raw
		}
		retracted := func(id string) string {
			return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"the server has ended"}}`
		}
		first := asked()
		up.last().die("exit status 1")
		d.expect("a death", retracted(first))
		d.ask("5", "vendor/x", "{}")
		d.said()

		second := asked()
		up.last().write(line("", "notifications/cancelled", `{"x":1.0,"requestId" : "q"}`))
		d.expect("a cancellation", line("", "notifications/cancelled", `{"x":1.0,"requestId" : `+second+`}`))
		third := asked()
		up.last().die("exit status 1")
		d.expect("another death", retracted(third))
		if first == second || second == third || len(d.facade.fromUp) != 0 {
			t.Errorf("the ids are %s, %s, %s; %d questions are kept", first, second, third, len(d.facade.fromUp))
		}
	})
}

// questioning is a host that is asked by us whether a tool may run, and the raw
// id of that question.
func questioning(t *testing.T) (d *desk, up *fake, ours string) {
	t.Helper()
	up = mixed()
	d = start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"destructive"`)}, up)
	d.openAsking()
	d.call("6", "get_issue", "{}")
	d.send(toolCall("7", "delete_issue", "{}"))
	ours, _ = d.consultation("a call")
	return d, up, ours
}

// TestQuestionUnderOurID shows that a question of the upstream under the id of one
// of ours is another question, so that a yes to it lets no tool run.
func TestQuestionUnderOurID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, up, ours := questioning(t)
		up.last().write(line(ours, "elicitation/create", `{"message":"Show closed ones too?"}`))
		theirs, _ := d.consultation("a question of the upstream")
		if theirs == ours {
			t.Fatalf("both questions have the id %s", ours)
		}
		d.says(theirs, "accept")
		d.expect("a yes to the upstream's question")
		up.wantRan(t, "a yes to the upstream's question", "get_issue {}")
		if answers := up.received(""); !strings.Contains(answers[len(answers)-1], `"id":`+ours+`,"result":{"action":"accept"}`) {
			t.Errorf("the upstream was last sent %s", answers[len(answers)-1])
		}
		d.says(ours, "accept")
		d.said()
		up.wantRan(t, "a yes to ours", "get_issue {}", "delete_issue {}")
	})
}

// TestOurQuestionIDs shows that they cannot be guessed from what the upstream
// sees.
func TestOurQuestionIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, up, ours := questioning(t)
		if len(ours) < len(`""`)+20 || strings.Contains(ours, d.facade.tag) {
			t.Errorf("the id of a question of ours is %s", ours)
		}
		for _, frame := range up.received("") {
			if id := gjson.Get(frame, "id").Raw; strings.HasPrefix(id, ours[:len(ours)/2]) {
				t.Errorf("the upstream has seen %s, and ours is %s", frame, ours)
			}
		}
	})
}

// TestOurQuestionIsNotTheirsToTakeBack shows that the upstream cannot retract it.
func TestOurQuestionIsNotTheirsToTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, up, ours := questioning(t)
		up.last().write(line("", "notifications/cancelled", `{"requestId":`+ours+`}`))
		d.expect("a cancellation")
		d.says(ours, "accept")
		d.said()
		up.wantRan(t, "a yes", "get_issue {}", "delete_issue {}")
	})
}

// TestHostIsNeverInitialized shows that a call does not wait for that for ever.
func TestHostIsNeverInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := mixed()
		d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"destructive"`)}, up)
		d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
		d.send(toolCall("7", "delete_issue", "{}"))
		d.silent(greetWait - time.Second)
		time.Sleep(2 * time.Second)
		told := d.said()
		if len(told) != 1 || !strings.Contains(told[0], "has not sent notifications/initialized in 30s") {
			t.Fatalf("the host is told %q; want a refusal", told)
		}
		d.send(toolCall("8", "delete_issue", "{}"))
		d.said()
		d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		id, _ := d.consultation("initialized")
		d.silent(50 * time.Minute)
		d.says(id, "accept")
		d.said()
		up.wantRan(t, "a yes", "delete_issue {}")
	})
}
