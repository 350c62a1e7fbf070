package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// unwrap gives servers of hosts back what they were before wrap.
func unwrap(ctx context.Context, e *env, o *options, args []string) error {
	done, err := e.alone(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	p, err := e.plan(o, args)
	if err != nil {
		return err
	}
	for _, k := range p.picks {
		if k.entry.Ours || k.named {
			made, err := p.unwrapped(k)
			p.note(k, made, err, p.asked(k) || !k.entry.Project)
		}
	}
	return p.carryOut("unwrap")
}

// unwrapped plans to unwrap one entry.
func (p *plan) unwrapped(k pick) (*planLine, error) {
	switch {
	case !k.entry.Ours:
		return nil, settled("is not wrapped")
	case k.entry.Project && !p.asked(k):
		return nil, errors.New("is in a file of the project, which others may have written: name its host or --file to have it unwrapped")
	}
	change, err := k.file.Unwrap(k.entry, func() ([]byte, error) {
		return config.RawUpstream(p.serversFileOf(k.entry), k.entry.Server)
	})
	if err != nil {
		return nil, err
	}
	return &planLine{Server: k.entry.Server, servers: p.serversFileOf(k.entry), Where: change.Where, Before: change.Before, After: change.After}, nil
}

// tellKept says which entries of servers files are not used by what was unwrapped
// any more, and stay.
func (p *plan) tellKept() {
	kept, there := map[string][]string{}, map[string][]string{} // by file
	for _, l := range p.lines {
		if l.servers == "" {
			continue
		}
		if _, read := there[l.servers]; !read {
			there[l.servers] = nil
			if f, err := config.Load(l.servers); err == nil {
				there[l.servers] = f.Names()
			}
		}
		if names := kept[l.servers]; slices.Contains(there[l.servers], l.Server) && !slices.Contains(names, l.Server) {
			kept[l.servers] = append(names, l.Server)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(kept)) {
		are := "stays"
		if len(kept[path]) > 1 {
			are = "stay"
		}
		fmt.Fprintf(p.stderr, "mcp-facade: %s %s in %s: other hosts may use it\n", compact.Line(strings.Join(kept[path], ", ")), are, compact.Line(path))
	}
}
