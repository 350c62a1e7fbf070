package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/pflag"
)

// A usageError is a command line that says nothing we can do: exit code 2.
type usageError struct {
	what string
	hint string
}

func (u *usageError) Error() string { return u.what }

func usage(format string, args ...any) error { return &usageError{what: fmt.Sprintf(format, args...)} }

// options are the flags.
type options struct {
	server, config, surface, name, url string
	explain                            string
	port                               int // 0: a free one
	noBrowser                          bool
	file, html                         string
	all, json, yes                     bool
	list, write, accept, transcripts   bool
	verbose, help, version             bool
	headers                            []string // "NAME: VALUE", for url
	inPlace                            []string // what stands after --; nil without it
	given                              []string // the names of the flags that are set
}

// parse reads flags, up to the first word or everywhere, and returns the words.
func (o *options) parse(args []string, everywhere bool) ([]string, error) {
	fs := pflag.NewFlagSet("mcp-facade", pflag.ContinueOnError)
	fs.SetInterspersed(everywhere)
	fs.Usage = func() {}
	for _, f := range allFlags() {
		f.add(fs, o)
	}
	if err := fs.Parse(args); err != nil {
		return nil, usage("%v", err)
	}
	fs.Visit(func(f *pflag.Flag) { o.given = append(o.given, f.Name) })
	return o.split(fs), nil
}

// add has fs set the flag in the options, of which one may be set already.
func (f flagSpec) add(fs *pflag.FlagSet, o *options) {
	switch at := f.at(o).(type) {
	case *string:
		fs.StringVarP(at, f.name, f.short, *at, "")
	case *bool:
		fs.BoolVarP(at, f.name, f.short, *at, "")
	case *int:
		fs.IntVarP(at, f.name, f.short, *at, "")
	case *[]string:
		fs.Func(f.name, "", func(value string) error { *at = append(*at, value); return nil })
	}
}

// split takes what stands after -- as the command to serve, and returns the rest.
func (o *options) split(fs *pflag.FlagSet) []string {
	rest, dash := fs.Args(), fs.ArgsLenAtDash()
	if dash < 0 {
		return rest
	}
	o.inPlace = rest[dash:]
	return rest[:dash]
}

// dispatch reads the command line and runs what it asks for. How the command
// is used goes with an error of the command line.
func dispatch(ctx context.Context, e *env, args []string) error {
	o := &options{}
	c, words, err := o.read(args)
	if err == nil {
		err = c.do(ctx, e, o, words)
	}
	if ue := new(usageError); errors.As(err, &ue) && ue.hint == "" {
		ue.hint = c.usage()
		if c.name == "" {
			ue.hint = "mcp-facade --help"
		}
	}
	return err
}

// read finds the command and the words that are for it.
func (o *options) read(args []string) (command, []string, error) {
	words, err := o.parse(args, false)
	for err == nil && len(words) > 0 && words[0] == "help" {
		o.help, words = true, words[1:]
	}
	if err != nil || len(words) == 0 {
		return serving(), nil, err
	}
	c, ok := commandNamed(words[0])
	switch {
	case !ok:
		return c, nil, unknown(words[0])
	case c.name == completing:
		return c, words[1:], nil
	}
	words, err = o.parse(words[1:], true)
	return c, words, err
}

// unknown says that there is no such command, and which may have been meant.
func unknown(word string) error {
	var names []string
	for _, c := range commands() {
		if c.group != "" {
			names = append(names, c.name)
		}
	}
	err := &usageError{what: fmt.Sprintf("there is no command %q", word),
		hint: fmt.Sprintf("mcp-facade --help; a server is named by --server NAME, or started by what stands after --: mcp-facade -- %s …", word)}
	switch near := nearestName(word, names); {
	case word == "version":
		err.hint = "mcp-facade --version"
	case near != "":
		err.hint = "mcp-facade " + near
	}
	return err
}

// A printout is what a command writes to stdout, and why not all of it has arrived.
type printout struct {
	io.Writer
	err error
}

func (p *printout) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) { // whoever reads it has enough
		return len(b), nil
	}
	p.err = cmp.Or(p.err, err)
	return n, err
}

// do runs a command. One whose answer could not be written has failed.
func (c command) do(ctx context.Context, e *env, o *options, words []string) error {
	if c.group == "" || c.name == "" && !o.help && !o.version { // it speaks a protocol
		return c.say(ctx, e, o, words)
	}
	told, out := *e, &printout{Writer: e.stdout}
	told.stdout = out
	return cmp.Or(c.say(ctx, &told, o, words), out.err)
}

// say runs a command, or shows what is asked for in its place.
func (c command) say(ctx context.Context, e *env, o *options, words []string) error {
	switch {
	case o.help && (c.name == "" || c.group == ""):
		fmt.Fprint(e.stdout, helpText())
		return nil
	case o.help:
		fmt.Fprint(e.stdout, c.help())
		return nil
	case o.version:
		fmt.Fprintln(e.stdout, "mcp-facade", e.version)
		return nil
	}
	for _, flag := range o.given {
		if !c.takes(flag) {
			return usage("%s takes no --%s", c, flag)
		}
	}
	return c.run(ctx, e, o, words)
}

func (c command) String() string {
	if c.name == "" {
		return "serving"
	}
	return c.name
}
