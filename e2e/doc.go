// Package e2e tests the built program from the outside: the binary, over its
// pipes, between real hosts and real servers. It holds tests only.
//
//	npm ci --prefix e2e     once: the servers and hosts that package-lock.json pins
//	go test ./e2e           all of it; -race builds the program with the race detector too
//	E2E_FACADE=PATH go test ./e2e    the same with a binary that is built already
//
// What is where:
//
//   - golden_test.go holds conversations: one script of frames is played to an
//     upstream and to the facade in front of the same upstream, cold and warm,
//     and the frames that come back must be the same bytes in the same order.
//     upstream_test.go is the upstream for the hard bytes; it also records what
//     reaches it. What is played to it needs no Node.
//   - sdk_test.go puts go-sdk on both ends, in both protocol eras. It needs no Node.
//   - servers_test.go puts go-sdk in front of the servers from npm.
//   - clients_test.go puts hosts from npm (client.mjs is the TypeScript SDK's
//     client, and there is the inspector) in front of a server from npm.
//   - agents_test.go lets real hosts find and run one of 204 tools, which
//     manyserver_test.go has, with a model that model_test.go plays: what the host
//     shows its model is what counts, and -v prints what that costs.
//   - wrap_test.go has wrap put the facade into the files of real hosts, which then
//     list and start their servers, and unwrap take it out again.
//   - catalogs_test.go has go-sdk and the TypeScript SDK (lists.mjs) list the tools
//     of every captured catalog in ../shared, which an upstream here replays. It
//     skips without them; go-sdk's half needs no Node.
//   - pairs_test.go puts go-sdk's peers of both eras at either end, over stdio and
//     HTTP: a table of what each pair can do. It needs no Node.
//   - hostproof_test.go has clients from npm (hostproof.mjs) take lists with tools
//     that hosts refuse.
//   - conformance_test.go runs the official suite with and without the facade, by
//     way of a bridge from HTTP to stdio, bridge_test.go.
//   - process_test.go looks for processes left behind, on Linux.
//   - soak_test.go makes calls of all kinds from many callers while the upstream,
//     soakserver_test.go, dies and dies. It needs no Node; its long form is
//     E2E_SOAK=10000 go test ./e2e -run TestSoak -v
//   - cold_test.go starts two facades at once on an empty cache.
//   - world_test.go, script_test.go and host_test.go are what the others stand on.
//
// Tests that need Node and node_modules skip without them, and fail instead
// where CI=true. The inspector declares Node 22; its command line runs on Node 20,
// and npm says so with a warning. package.json overrides vite, which only the
// inspector's web page uses, so that npm ci needs no package that is not
// published everywhere. Node 22, OpenCode, Codex and Claude Code are packages with
// nothing but a program, for one platform each: they need no script, and npm
// leaves those of other platforms out.
package e2e
