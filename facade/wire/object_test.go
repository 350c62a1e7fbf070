package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func TestSetMember(t *testing.T) {
	for _, test := range []struct{ name, obj, key, raw, want string }{
		{"replaces a value", `{"a":1, "b" : [2] ,"c":3}`, "b", `{}`, `{"a":1, "b" : {} ,"c":3}`},
		{"replaces the first and the last", ` {"a":1} `, "a", `"x"`, ` {"a":"x"} `},
		{"appends", `{ "a": 1 }`, "b", `2`, `{ "a": 1,"b":2 }`},
		{"appends to none", `{ }`, "b", `2`, `{"b":2 }`},
		{"appends to less", "{}", "b", `2`, `{"b":2}`},
		{"appends a key that needs escapes", "{}", "a\"\n", `2`, `{"a\"\n":2}`},
		{"replaces the value of a key with escapes", `{"\u0061":1}`, "a", `2`, `{"\u0061":2}`},
		{"replaces each time", `{"a":1,"b":1,"a":2}`, "a", `3`, `{"a":3,"b":1,"a":3}`},
		{"leaves what lies deeper", `{"b":{"a":1},"c":["a",{"a":1}]}`, "a", `2`, `{"b":{"a":1},"c":["a",{"a":1}],"a":2}`},
		{"leaves keys in other letters", `{"A":1}`, "a", `2`, `{"A":1,"a":2}`},
		{"takes an empty key", `{"":1}`, "", `2`, `{"":2}`},
		{"takes a null", `{"a":null}`, "a", `2`, `{"a":2}`},
		{"leaves an array", `[1]`, "a", `2`, `[1]`},
		{"leaves null", `null`, "a", `2`, `null`},
		{"leaves nothing", ``, "a", `2`, ``},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			obj := []byte(test.obj)
			if got := string(SetMember(obj, test.key, []byte(test.raw))); got != test.want {
				t.Errorf("SetMember(%s, %s, %s) = %s, want %s", test.obj, test.key, test.raw, got, test.want)
			}
			if string(obj) != test.obj {
				t.Errorf("SetMember changed its argument: %s", obj)
			}
		})
	}
}

func TestDeleteMember(t *testing.T) {
	for _, test := range []struct{ name, obj, key, want string }{
		{"deletes the first", `{ "a": 1, "b": 2 }`, "a", `{ "b": 2 }`},
		{"deletes one in the middle", `{"a":1 , "b":2 , "c":3}`, "b", `{"a":1 , "c":3}`},
		{"deletes the last", `{ "a":1 , "b":2 }`, "b", `{ "a":1 }`},
		{"deletes the only one", ` { "a" : 1 } `, "a", ` { } `},
		{"deletes each time", `{"a":1,"b":1,"a":[2]}`, "a", `{"b":1}`},
		{"deletes a key with escapes", `{"\u0061":1,"b":1}`, "a", `{"b":1}`},
		{"deletes all of several", `{"a":1,"a":2}`, "a", `{}`},
		{"leaves what lies deeper", `{"b":{"a":1}}`, "a", `{"b":{"a":1}}`},
		{"leaves an object without it", "{\n}", "a", "{\n}"},
		{"leaves an array", `["a"]`, "a", `["a"]`},
		{"leaves nothing", ``, "a", ``},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			obj := []byte(test.obj)
			if got := string(DeleteMember(obj, test.key)); got != test.want {
				t.Errorf("DeleteMember(%s, %s) = %s, want %s", test.obj, test.key, got, test.want)
			}
			if string(obj) != test.obj {
				t.Errorf("DeleteMember changed its argument: %s", obj)
			}
		})
	}
}

func FuzzMember(f *testing.F) {
	f.Add([]byte(`{ "a" : 1 , "b":[] }`), "a")
	f.Add([]byte(`{"a\n":1,"b":{"a":2},"a\u000a":3}`), "a\n")
	f.Fuzz(func(t *testing.T, obj []byte, key string) {
		want := map[string]json.RawMessage{}
		if json.Unmarshal(obj, &want) != nil || want == nil || string(obj) != string([]rune(string(obj))) || key != string([]rune(key)) {
			return
		}
		delete(want, key)
		checkObject(t, DeleteMember(obj, key), want)
		want[key] = json.RawMessage(`[7]`)
		set := SetMember(obj, key, want[key])
		checkObject(t, set, want)
		delete(want, key)
		checkObject(t, DeleteMember(set, key), want)
	})
}

func checkObject(t *testing.T, obj []byte, want map[string]json.RawMessage) {
	t.Helper()
	got := map[string]json.RawMessage{}
	if err := json.Unmarshal(obj, &got); err != nil {
		t.Fatalf("%s: %v", obj, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of %s (-want +got):\n%s", obj, diff)
	}
}

func TestDuplicate(t *testing.T) {
	for _, test := range []struct{ name, obj, want string }{
		{"finds none", `{"name":"a","arguments":{}}`, ""},
		{"finds the same key", `{"name":"a","name":"a"}`, "name"},
		{"finds a key with escapes", `{"name":"a","n\u0061me":"b"}`, "name"},
		{"finds a key in other letters", `{"NAME":"a","name":"b"}`, "name"},
		{"finds two keys in other letters", `{"Arguments":1,"arGuments":2}`, "arguments"},
		{"finds letters that fold", `{"argument\u017f":1,"arguments":2}`, "arguments"},
		{"names the first it was given", `{"arguments":1,"arguments":2,"name":1,"name":2}`, "name"},
		{"leaves other keys alone", `{"x":1,"x":2,"a":{"name":1},"name":2}`, ""},
		{"leaves arrays alone", `["name","name"]`, ""},
		{"leaves nothing alone", ``, ""},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			if got := Duplicate(gjson.Parse(test.obj), "name", "arguments"); got != test.want {
				t.Errorf("Duplicate(%s) = %q, want %q", test.obj, got, test.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	plain := []byte(frame1)
	if got := OneLine(plain); &got[0] != &plain[0] {
		t.Error("OneLine copied a frame of one line")
	}
	if got := string(OneLine([]byte("{\r\n \"a\\n\": 1\n,\r\"b\":[]\n}\r"))); got != `{ "a\n": 1,"b":[]}` {
		t.Errorf("OneLine gave %q", got)
	}
}
