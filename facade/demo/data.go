package demo

// seed is the data at the beginning: a table's name and a record on each line.
// What a record leaves out is as in a new one of its kind.
const seed = `
users {"username":"maya","name":"Maya Lindqvist","email":"maya@tracker.example","role":"admin","active":true,"time_zone":"Europe/Stockholm"}
users {"username":"jonas","name":"Jonas Okafor","email":"jonas@tracker.example","role":"member","active":true,"time_zone":"Europe/Berlin"}
users {"username":"priya","name":"Priya Castellano","email":"priya@tracker.example","role":"member","active":true,"time_zone":"Europe/Lisbon"}
users {"username":"tomas","name":"Tomas Adeyemi","email":"tomas@tracker.example","role":"member","active":true,"time_zone":"Europe/Prague"}
users {"username":"lena","name":"Lena Fujimoto","email":"lena@tracker.example","role":"guest","active":true,"time_zone":"Asia/Tokyo"}
users {"username":"oskar","name":"Oskar Marchetti","email":"oskar@tracker.example","role":"member","active":false,"time_zone":"Europe/Rome"}

projects {"project_key":"WEB","name":"Web shop","description":"The shop as customers see it: catalogue, cart, checkout.","lead":"maya","created_at":"2025-06-02T08:00:00Z","updated_at":"2026-01-12T10:00:00Z"}
projects {"project_key":"API","name":"Order service","description":"The service behind the shop: orders, stock, payments.","lead":"jonas","created_at":"2025-06-02T08:10:00Z","updated_at":"2025-11-03T09:00:00Z"}
projects {"project_key":"OPS","name":"Operations","description":"Servers, backups, alarms.","lead":"tomas","category":"operations","visibility":"private","created_at":"2025-09-15T12:00:00Z","updated_at":"2025-09-15T12:00:00Z"}
projects {"project_key":"OLD","name":"Legacy shop","description":"The shop before WEB. Kept for its history.","lead":"oskar","archived":true,"created_at":"2023-02-01T08:00:00Z","updated_at":"2025-06-30T15:00:00Z"}

labels {"label":"frontend","color":"#1d76db","description":"Runs in the browser."}
labels {"label":"backend","color":"#0e8a16","description":"Runs on the server."}
labels {"label":"payments","color":"#fbca04","description":"Touches money; needs a second reviewer."}
labels {"label":"regression","color":"#d73a4a","description":"Worked in an earlier release."}
labels {"label":"accessibility","color":"#5319e7","description":"Keyboard, screen readers, contrast."}
labels {"label":"performance","color":"#f9d0c4","description":"Slow, or too large."}
labels {"label":"security","color":"#b60205","description":"May expose data or access."}
labels {"label":"docs","color":"#c5def5","description":"Documentation only."}

sprints {"sprint_id":"spr_1","project_key":"WEB","name":"Sprint 6","goal":"Guests can buy without an account.","state":"completed","start_date":"2026-02-23","end_date":"2026-03-06","created_at":"2026-02-19T09:00:00Z","updated_at":"2026-03-06T16:00:00Z"}
sprints {"sprint_id":"spr_2","project_key":"WEB","name":"Sprint 7","goal":"Checkout works on every phone.","state":"active","start_date":"2026-03-09","end_date":"2026-03-20","created_at":"2026-03-05T09:00:00Z","updated_at":"2026-03-09T08:30:00Z"}
sprints {"sprint_id":"spr_3","project_key":"WEB","name":"Sprint 8","goal":"Search finds what people mean.","start_date":"2026-03-23","end_date":"2026-04-03","created_at":"2026-03-12T09:00:00Z","updated_at":"2026-03-12T09:00:00Z"}
sprints {"sprint_id":"spr_4","project_key":"API","name":"Stock I","goal":"Stock is right within a minute.","state":"completed","start_date":"2026-03-02","end_date":"2026-03-13","created_at":"2026-02-27T09:00:00Z","updated_at":"2026-03-13T15:00:00Z"}
sprints {"sprint_id":"spr_5","project_key":"API","name":"Stock II","goal":"No order is sold twice.","start_date":"2026-03-16","end_date":"2026-03-27","created_at":"2026-03-13T15:10:00Z","updated_at":"2026-03-13T15:10:00Z"}

boards {"board_id":"brd_1","project_key":"WEB","name":"Web shop sprint board","type":"scrum","columns":["todo","in_progress","in_review","done"]}
boards {"board_id":"brd_2","project_key":"API","name":"Order service sprint board","type":"scrum","columns":["todo","in_progress","in_review","done"]}
boards {"board_id":"brd_3","project_key":"OPS","name":"Operations","type":"kanban","columns":["backlog","todo","in_progress","done"]}

releases {"release_id":"rel_1","project_key":"WEB","name":"2.3.0","description":"Guest checkout.","status":"released","target_date":"2026-03-06","released_at":"2026-03-06T14:00:00Z","created_at":"2026-02-02T09:00:00Z"}
releases {"release_id":"rel_2","project_key":"WEB","name":"2.4.0","description":"Mobile checkout.","target_date":"2026-03-20","created_at":"2026-03-02T09:00:00Z"}
releases {"release_id":"rel_3","project_key":"API","name":"1.9.0","description":"Stock reservations.","target_date":"2026-03-30","created_at":"2026-03-02T09:30:00Z"}

issues {"issue_key":"WEB-1","project_key":"WEB","type":"epic","title":"Mobile checkout","description":"The whole checkout must work on screens from 320 pixels.","status":"in_progress","priority":"high","assignee":"maya","reporter":"maya","release_id":"rel_2","created_at":"2026-01-12T10:00:00Z","updated_at":"2026-03-09T08:30:00Z"}
issues {"issue_key":"WEB-2","project_key":"WEB","type":"story","title":"Buy as a guest","status":"done","priority":"high","assignee":"priya","reporter":"maya","labels":["frontend"],"sprint_id":"spr_1","release_id":"rel_1","story_points":8,"resolution":"fixed","created_at":"2026-01-20T09:00:00Z","updated_at":"2026-03-04T13:00:00Z"}
issues {"issue_key":"WEB-3","project_key":"WEB","type":"bug","title":"Checkout button does nothing on small screens","description":"On phones narrower than 360 pixels the button lies below the cookie bar. Tapping it closes the bar and nothing else.\n\n1. Open the cart on a small phone\n2. Tap \"Check out\"\n\nExpected: the address form. Actual: nothing.","status":"in_progress","priority":"critical","assignee":"priya","reporter":"lena","labels":["frontend","regression"],"watchers":["maya","lena"],"sprint_id":"spr_2","release_id":"rel_2","parent_key":"WEB-1","story_points":3,"due_date":"2026-03-17","created_at":"2026-03-06T17:20:00Z","updated_at":"2026-03-13T11:00:00Z"}
issues {"issue_key":"WEB-4","project_key":"WEB","type":"story","title":"Remember the delivery address","description":"Returning customers should not have to type their address again.","status":"in_review","assignee":"jonas","reporter":"maya","labels":["frontend","backend"],"sprint_id":"spr_2","release_id":"rel_2","story_points":5,"created_at":"2026-02-16T09:00:00Z","updated_at":"2026-03-13T16:40:00Z"}
issues {"issue_key":"WEB-5","project_key":"WEB","type":"bug","title":"Credit card form loses its content when the keyboard opens","status":"todo","priority":"high","assignee":"priya","reporter":"priya","labels":["frontend","payments"],"sprint_id":"spr_2","parent_key":"WEB-1","story_points":5,"due_date":"2026-03-19","created_at":"2026-03-10T08:15:00Z","updated_at":"2026-03-10T08:15:00Z"}
issues {"issue_key":"WEB-6","project_key":"WEB","title":"Compress product pictures","description":"The start page loads 4 MB of pictures.","priority":"low","reporter":"tomas","labels":["performance"],"story_points":2,"created_at":"2026-02-11T14:00:00Z","updated_at":"2026-02-11T14:00:00Z"}
issues {"issue_key":"WEB-7","project_key":"WEB","type":"story","title":"Search tolerates spelling mistakes","status":"backlog","assignee":"jonas","reporter":"maya","labels":["backend"],"sprint_id":"spr_3","story_points":8,"created_at":"2026-02-18T09:00:00Z","updated_at":"2026-03-12T09:05:00Z"}
issues {"issue_key":"WEB-8","project_key":"WEB","type":"bug","title":"Focus is lost after removing an item from the cart","status":"todo","assignee":null,"reporter":"lena","labels":["frontend","accessibility"],"sprint_id":"spr_3","story_points":2,"created_at":"2026-03-02T10:30:00Z","updated_at":"2026-03-12T09:06:00Z"}
issues {"issue_key":"WEB-9","project_key":"WEB","type":"bug","title":"Voucher is applied twice when the page is reloaded","status":"done","priority":"critical","assignee":"maya","reporter":"jonas","labels":["payments","security"],"sprint_id":"spr_1","release_id":"rel_1","story_points":3,"resolution":"fixed","created_at":"2026-02-24T15:00:00Z","updated_at":"2026-02-27T12:00:00Z"}
issues {"issue_key":"WEB-10","project_key":"WEB","title":"Replace the icon font by SVG","status":"done","priority":"low","assignee":"priya","reporter":"priya","labels":["frontend","performance"],"sprint_id":"spr_2","release_id":"rel_2","story_points":3,"resolution":"fixed","created_at":"2026-02-20T09:00:00Z","updated_at":"2026-03-11T10:00:00Z"}
issues {"issue_key":"WEB-11","project_key":"WEB","type":"subtask","title":"Move the cookie bar to the top on small screens","status":"todo","priority":"high","assignee":"priya","reporter":"priya","labels":["frontend"],"sprint_id":"spr_2","parent_key":"WEB-3","story_points":1,"created_at":"2026-03-13T11:00:00Z","updated_at":"2026-03-13T11:00:00Z"}
issues {"issue_key":"WEB-12","project_key":"WEB","type":"bug","title":"Dark mode: prices are grey on grey","priority":"medium","reporter":"lena","labels":["frontend","accessibility"],"created_at":"2026-03-13T18:02:00Z","updated_at":"2026-03-13T18:02:00Z"}
issues {"issue_key":"WEB-13","project_key":"WEB","title":"Describe the build in the handbook","priority":"lowest","assignee":"tomas","reporter":"maya","labels":["docs"],"created_at":"2025-12-04T09:00:00Z","updated_at":"2025-12-04T09:00:00Z"}
issues {"issue_key":"API-1","project_key":"API","type":"epic","title":"Stock reservations","description":"Reserve stock when an order is placed, not when it is paid.","status":"in_progress","priority":"high","assignee":"jonas","reporter":"jonas","release_id":"rel_3","created_at":"2026-02-02T09:00:00Z","updated_at":"2026-03-02T09:30:00Z"}
issues {"issue_key":"API-2","project_key":"API","type":"bug","title":"Two customers can buy the last piece","description":"Both orders pass the stock check within the same second.","status":"in_review","priority":"critical","assignee":"jonas","reporter":"maya","labels":["backend"],"watchers":["maya"],"sprint_id":"spr_5","release_id":"rel_3","parent_key":"API-1","story_points":8,"due_date":"2026-03-20","created_at":"2026-02-26T08:40:00Z","updated_at":"2026-03-13T17:00:00Z"}
issues {"issue_key":"API-3","project_key":"API","type":"story","title":"Release a reservation after 30 minutes","status":"todo","assignee":"tomas","reporter":"jonas","labels":["backend"],"sprint_id":"spr_5","release_id":"rel_3","parent_key":"API-1","story_points":5,"created_at":"2026-02-26T09:00:00Z","updated_at":"2026-03-13T15:12:00Z"}
issues {"issue_key":"API-4","project_key":"API","title":"Index orders by customer","status":"done","assignee":"tomas","reporter":"jonas","labels":["backend","performance"],"sprint_id":"spr_4","story_points":2,"resolution":"fixed","created_at":"2026-02-27T10:00:00Z","updated_at":"2026-03-05T11:00:00Z"}
issues {"issue_key":"API-5","project_key":"API","type":"bug","title":"Refunds are rounded to whole euros","status":"done","priority":"critical","assignee":"jonas","reporter":"priya","labels":["backend","payments"],"sprint_id":"spr_4","release_id":"rel_3","story_points":3,"resolution":"fixed","created_at":"2026-03-03T13:30:00Z","updated_at":"2026-03-06T09:00:00Z"}
issues {"issue_key":"API-6","project_key":"API","type":"bug","title":"Payment callback answers 500 when the order was cancelled","priority":"high","reporter":"tomas","labels":["backend","payments"],"created_at":"2026-03-14T07:55:00Z","updated_at":"2026-03-14T07:55:00Z"}
issues {"issue_key":"API-7","project_key":"API","title":"Document the order states","priority":"low","assignee":"lena","reporter":"jonas","labels":["docs"],"story_points":1,"created_at":"2026-01-30T09:00:00Z","updated_at":"2026-01-30T09:00:00Z"}
issues {"issue_key":"OPS-1","project_key":"OPS","title":"Rotate the database passwords","status":"todo","priority":"high","assignee":"tomas","reporter":"maya","labels":["security"],"due_date":"2026-03-31","created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:00Z"}
issues {"issue_key":"OPS-2","project_key":"OPS","type":"bug","title":"Nightly backup takes longer than the night","status":"in_progress","priority":"high","assignee":"tomas","reporter":"tomas","labels":["performance"],"created_at":"2026-03-08T06:10:00Z","updated_at":"2026-03-12T08:00:00Z"}
issues {"issue_key":"OPS-3","project_key":"OPS","title":"Alarm when the queue is longer than 1000","status":"done","assignee":"tomas","reporter":"jonas","resolution":"fixed","created_at":"2026-02-03T09:00:00Z","updated_at":"2026-02-17T09:00:00Z"}
issues {"issue_key":"OLD-1","project_key":"OLD","title":"Switch the old shop off","status":"done","assignee":"oskar","reporter":"maya","resolution":"fixed","created_at":"2025-06-10T09:00:00Z","updated_at":"2025-06-30T15:00:00Z"}

comments {"comment_id":"cmt_1","issue_key":"WEB-3","author":"lena","body":"Three customers have written to us about this since Friday.","created_at":"2026-03-09T07:45:00Z","updated_at":"2026-03-09T07:45:00Z"}
comments {"comment_id":"cmt_2","issue_key":"WEB-3","author":"priya","body":"Reproduced. The cookie bar has been above the button since 2.3.0; see WEB-11.","created_at":"2026-03-13T11:05:00Z","updated_at":"2026-03-13T11:05:00Z"}
comments {"comment_id":"cmt_3","issue_key":"WEB-3","author":"maya","body":"About 4 % of our orders come from screens of this size. @priya please take this first.","internal":true,"created_at":"2026-03-13T11:30:00Z","updated_at":"2026-03-13T11:30:00Z"}
comments {"comment_id":"cmt_4","issue_key":"WEB-4","author":"jonas","body":"Ready for review. The address is only kept if the customer agrees.","created_at":"2026-03-13T16:40:00Z","updated_at":"2026-03-13T16:40:00Z"}
comments {"comment_id":"cmt_5","issue_key":"API-2","author":"jonas","body":"A row lock is enough; no queue is needed.","created_at":"2026-03-12T10:00:00Z","updated_at":"2026-03-12T10:00:00Z"}
comments {"comment_id":"cmt_6","issue_key":"API-2","author":"tomas","body":"The lock costs 2 ms per order under load. Fine with me.","created_at":"2026-03-13T17:00:00Z","updated_at":"2026-03-13T17:00:00Z"}
comments {"comment_id":"cmt_7","issue_key":"OPS-2","author":"tomas","body":"Incremental backups bring it down from 9 to 2 hours.","created_at":"2026-03-12T08:00:00Z","updated_at":"2026-03-12T08:00:00Z"}

links {"link_id":"lnk_1","issue_key":"WEB-11","type":"blocks","target_key":"WEB-3","created_at":"2026-03-13T11:01:00Z"}
links {"link_id":"lnk_2","issue_key":"API-2","type":"relates_to","target_key":"API-3","created_at":"2026-03-02T09:40:00Z"}

changes {"change_id":"chg_1","issue_key":"WEB-3","author":"maya","field":"priority","from":"high","to":"critical","created_at":"2026-03-09T08:30:00Z"}
changes {"change_id":"chg_2","issue_key":"WEB-3","author":"priya","field":"status","from":"todo","to":"in_progress","created_at":"2026-03-13T11:00:00Z"}
changes {"change_id":"chg_3","issue_key":"API-2","author":"jonas","field":"status","from":"in_progress","to":"in_review","created_at":"2026-03-13T17:00:00Z"}

worklogs {"worklog_id":"wl_1","issue_key":"WEB-2","author":"priya","minutes":420,"note":"Guest form","work_date":"2026-03-02","created_at":"2026-03-02T16:00:00Z"}
worklogs {"worklog_id":"wl_2","issue_key":"WEB-9","author":"maya","minutes":150,"note":"Idempotent vouchers","work_date":"2026-02-26","created_at":"2026-02-26T15:00:00Z"}
worklogs {"worklog_id":"wl_3","issue_key":"WEB-10","author":"priya","minutes":180,"note":"SVG sprites","work_date":"2026-03-10","created_at":"2026-03-10T16:00:00Z"}
worklogs {"worklog_id":"wl_4","issue_key":"WEB-3","author":"priya","minutes":90,"note":"Reproduced on three phones","work_date":"2026-03-13","created_at":"2026-03-13T12:00:00Z"}
worklogs {"worklog_id":"wl_5","issue_key":"WEB-4","author":"jonas","minutes":300,"note":"Consent and storage","work_date":"2026-03-12","created_at":"2026-03-12T17:00:00Z"}
worklogs {"worklog_id":"wl_6","issue_key":"API-2","author":"jonas","minutes":240,"note":"Row lock, load test","work_date":"2026-03-11","created_at":"2026-03-11T17:00:00Z"}
worklogs {"worklog_id":"wl_7","issue_key":"API-2","author":"tomas","minutes":60,"note":"Review","work_date":"2026-03-13","created_at":"2026-03-13T17:00:00Z"}
worklogs {"worklog_id":"wl_8","issue_key":"OPS-2","author":"tomas","minutes":210,"note":"Incremental backups","work_date":"2026-03-11","created_at":"2026-03-11T18:00:00Z"}

attachments {"attachment_id":"att_1","issue_key":"WEB-3","filename":"phones.csv","mime_type":"text/csv","size_bytes":41,"author":"lena","created_at":"2026-03-09T07:46:00Z","content":"width,height,reports\n320,568,2\n344,882,1\n"}
attachments {"attachment_id":"att_2","issue_key":"OPS-2","filename":"backup log.txt","size_bytes":60,"author":"tomas","created_at":"2026-03-09T06:00:00Z","content":"22:00 start\n04:12 orders done\n07:03 pictures done\n07:05 end\n"}

webhooks {"webhook_id":"wh_1","url":"https://chat.tracker.example/hooks/web","events":["issue.created","sprint.started"],"project_key":"WEB","created_at":"2025-10-01T09:00:00Z"}
webhooks {"webhook_id":"wh_2","url":"https://status.tracker.example/in","events":["release.published"],"active":false,"created_at":"2025-12-01T09:00:00Z"}

filters {"filter_id":"flt_1","name":"Open bugs","query":"type:bug -status:done","owner":"maya","shared":true,"created_at":"2025-07-01T09:00:00Z"}
filters {"filter_id":"flt_2","name":"Mine","query":"assignee:me -status:done","owner":"maya","created_at":"2025-07-01T09:05:00Z"}
filters {"filter_id":"flt_3","name":"Money","query":"label:payments -status:done","owner":"jonas","shared":true,"created_at":"2026-01-15T09:00:00Z"}
`
