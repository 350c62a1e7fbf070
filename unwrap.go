package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mcp-facade/compact"
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
			p.note(k, made, err)
		}
	}
	return p.carryOut("unwrap")
}

// unwrapped plans to unwrap one entry.
func (p *plan) unwrapped(k pick) (*planLine, error) {
	switch {
	case !k.entry.Ours:
		return nil, errors.New("is not wrapped")
	case k.entry.Project && !p.asked(k):
		return nil, errors.New("is in a file of the project, which others may have written: name its host or --file to have it unwrapped")
	}
	path := p.path
	if k.entry.Config != "" {
		path = p.absolute(k.entry.Config)
	}
	change, err := k.file.Unwrap(k.entry, upstreamOf(path, k.entry.Server))
	if err != nil {
		return nil, err
	}
	return &planLine{Server: k.entry.Server, Where: change.Where, Before: change.Before, After: change.After}, nil
}

// tellKept says which entries of the servers file are not used by what was
// unwrapped any more, and stay.
func (p *plan) tellKept() {
	var kept []string
	for _, k := range p.picks {
		at := slices.IndexFunc(p.lines, func(l *planLine) bool {
			return l.Reason == "" && l.File == k.file.Path && l.Scope == k.entry.Scope && l.Name == k.entry.Name
		})
		line := fmt.Sprintf("mcp-facade: %s stays in %s: other hosts may use it", compact.Line(k.entry.Server), compact.Line(cmp.Or(k.entry.Config, p.path)))
		if at >= 0 && k.entry.Server != "" && !slices.Contains(kept, line) {
			kept = append(kept, line)
			fmt.Fprintln(p.stderr, line)
		}
	}
}
