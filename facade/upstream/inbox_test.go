package upstream

import (
	"errors"
	"testing"
	"testing/synctest"

	"mcp-facade/facade/wire"
)

func message(n int) wire.Message { return wire.Message{Raw: make([]byte, n)} }

func TestInbox(t *testing.T) {
	errEnd, errLater := errors.New("end"), errors.New("later")
	for _, tt := range []struct {
		name string
		then func(*inbox)
		puts int // of 10, each of a third of the room, that do not wait
		kept int // of those
		ends error
	}{
		{"waits for room", func(*inbox) {}, 3, 3, errLater},
		{"goes on when there is more room", func(b *inbox) { b.widen(18) }, 6, 6, errLater},
		{"does not lose room", func(b *inbox) { b.widen(1) }, 3, 3, errLater},
		{"goes on when one is taken", func(b *inbox) { b.take() }, 4, 3, errLater},
		{"drops what comes after the end", func(b *inbox) { b.end(errEnd) }, 10, 3, errEnd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, puts := newInbox(9), 0
				go func() {
					for ; puts < 10; puts++ {
						b.put(message(3))
					}
				}()
				synctest.Wait()
				tt.then(b)
				synctest.Wait()
				if puts != tt.puts {
					t.Errorf("%d puts; want %d", puts, tt.puts)
				}
				b.end(errLater)
				kept := 0
				_, err := b.take()
				for ; err == nil; kept++ {
					_, err = b.take()
				}
				if kept != tt.kept || err != tt.ends {
					t.Errorf("%d kept, then %v; want %d, %v", kept, err, tt.kept, tt.ends)
				}
			})
		})
	}
}

func TestInboxTakesWhatIsTooLarge(t *testing.T) {
	b := newInbox(9)
	b.put(message(100))
	if m, err := b.take(); err != nil || len(m.Raw) != 100 {
		t.Errorf("take = %d bytes, %v; want 100", len(m.Raw), err)
	}
}
