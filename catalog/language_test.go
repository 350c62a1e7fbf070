package catalog

import "testing"

func TestForeign(t *testing.T) {
	english := deskOf(0)
	spanish, _ := New([][]byte{[]byte(`{"tools":[{"name":"crear_tarea","description":"Crea una tarea para el usuario en la lista."}]}`)})
	chinese, _ := New([][]byte{[]byte(`{"tools":[{"name":"search","description":"搜索地点的信息"}]}`)})
	tests := []struct {
		name  string
		c     *Catalog
		query string
		want  bool
	}{
		{"an English one", english, "close the ticket of la Tour", false},
		{"one of no words", english, "?!", false},
		{"an unknown word", english, "qqzzk", false},
		{"an English one with a foreign name", english, "send a comment to 李雷 about the ticket", false},
		{"Chinese", english, "创建一个工单", true},
		{"Chinese with a word of the tools", english, "创建一个ticket", true},
		{"Korean", english, "티켓 닫기", true},
		{"Russian", english, "закрыть тикет", true},
		{"Spanish", english, "crear una tarea para mañana", true},
		{"German", english, "lege ein Ticket für die Kunden an und schließe das alte", true},
		{"French", english, "fermer le ticket du client", true},
		{"Spanish to Spanish tools", spanish, "crear una tarea para el lunes", false},
		{"Chinese to Chinese tools", chinese, "搜索信息", false},
	}
	for _, tt := range tests {
		if got := tt.c.Foreign(tt.query); got != tt.want {
			t.Errorf("%s: Foreign(%q) = %t, want %t", tt.name, tt.query, got, tt.want)
		}
	}
}

// No English query is taken for another language.
func TestForeignOfLabelledQueries(t *testing.T) {
	for _, set := range dataSets(t) {
		c := set.catalog()
		for _, q := range set.questions {
			if q.Lang == "" && c.Foreign(q.Query) {
				t.Errorf("%s: Foreign(%q)", set.name, q.Query)
			}
		}
	}
}
