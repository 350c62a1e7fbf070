// Package upstream connects to one MCP server and carries frames to and from
// it. How the server is reached ends in Dial; what is dialled looks the same.
//
// # A process and what it leaves
//
// A stdio upstream runs in a process group of its own (on Windows in a Job
// Object). It is over when its first process, the leader, exits, when it
// closes its output, or when it takes no more input. Whatever the reason, the
// whole group is then taken down in steps: stdin is closed and given 2 s, since
// some launchers (docker run -i) end by nothing else; the group is terminated
// and given 2 s more; what is left is killed. Once Target.Hurry is closed a step
// lasts 300 ms. Close does the same to an upstream that is well, and returns
// when nothing of the group is left.
//
// A process that leaves the group on purpose (setsid) is out of reach on Unix.
// It cannot hold us up either: its copies of the pipes are read for 300 ms
// after the leader's exit and no longer.
//
// # If we are killed outright
//
// Nobody takes the steps then. The kernel closes our end of the pipes, so every
// upstream sees the end of its stdin. On Linux the leader is sent SIGTERM
// besides, which launchers pass on to what they launched; SIGKILL would take the
// launcher and leave its child. On Windows the job closes with us and kills all
// that is in it. Left behind are, on Linux, processes that heed neither the end
// of stdin nor SIGTERM and children of leaders that do not pass it on; on other
// Unix systems, all that ignore the end of stdin.
//
// # A server by HTTP
//
// Each frame is a POST of its own (post.go), made in one place (request.go). Its
// answer is JSON or a stream of events (stream.go); a legacy server also speaks
// on a standalone stream, which is opened in the background (standing.go) and
// which nothing waits for. Requests run side by side, 128 of them beside those
// that listen; the others wait for their turn. Notifications go one after the
// other, and what is sent after notifications/initialized follows it; one that is
// not answered holds the rest up for 10 s and no longer. Cancellations and the
// host's answers wait for none of these. A request that is cancelled ends when
// the server knows, within 1 s. After the answer a stream is read for 2 s more.
// Streams that are cut are opened again after the last event id, 5 times if
// nothing new comes, and less and less often.
//
// Answers are read side by side until they hold 64 MiB beyond the first 1 MiB of
// each; then one goes on and the other large ones wait (budget.go). So a server
// costs us little more than its largest answer, whatever it sends.
//
// What goes wrong with one request is a Failure of it alone (refusal.go). It is
// said to be unprocessed only if there was no connection for it, or if the
// server's refusal says so: 401, 407, 429, 301, 307, 308, a lost session, headers
// that do not match. No call has a time limit. A peer that is gone is noticed by
// TCP keep-alive and HTTP/2 pings, after about a minute and a half.
//
// The connection ends when the server has forgotten the session (session.go), or
// by HTTP+SSE (sse.go) with the event stream: no request is sent any more, those
// whose answers are still coming are waited for, and Recv ends. Close sends the
// notifications that are queued, ends the session on the server, which has 2 s
// for both (300 ms once Target.Hurry is closed), and cuts off what is under way.
package upstream
