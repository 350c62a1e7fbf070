package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// What a word counts for another: for one that is a form of it, for one that
// means about the same, and for one that does so among other things.
const (
	formWeight    = .8
	synonymWeight = .5
	wayWeight     = .4
)

// synonyms are groups of terms that stand for one another.
type synonyms struct {
	groups  []synonymGroup
	members []member // sorted by term
}

type synonymGroup struct {
	terms  []int32
	weight float32 // what one of them counts for another
}

// A member is a term in a group.
type member struct{ term, group int32 }

// addGroups gives each word of groups of words a term.
func (b *indexBuilder) addGroups(s *synonyms, groups string, weight float32) {
	for words := range strings.SplitSeq(groups, ";") {
		var terms []int32
		for word := range strings.FieldsSeq(words) {
			t := b.term(term(word))
			terms = append(terms, t)
			s.members = append(s.members, member{t, int32(len(s.groups))})
		}
		s.groups = append(s.groups, synonymGroup{terms, weight})
	}
}

// addWays makes the first word of each list stand for the others too.
func (b *indexBuilder) addWays(s *synonyms, lists string) {
	for words := range strings.SplitSeq(lists, ";") {
		var terms []int32
		for word := range strings.FieldsSeq(words) {
			terms = append(terms, b.term(term(word)))
		}
		s.members = append(s.members, member{terms[0], int32(len(s.groups))})
		s.groups = append(s.groups, synonymGroup{terms, wayWeight})
	}
}

// synonyms are those of this file.
func (b *indexBuilder) synonyms() (s synonyms) {
	b.addGroups(&s, forms, formWeight)
	b.addGroups(&s, likewise, synonymWeight)
	b.addWays(&s, ways)
	slices.SortFunc(s.members, func(a, b member) int { return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.group, b.group)) })
	return s
}

// of calls visit with each synonym of a term, and what it counts.
func (s *synonyms) of(term int32, visit func(synonym int32, weight float32)) {
	at, _ := slices.BinarySearchFunc(s.members, term, func(m member, t int32) int { return cmp.Compare(m.term, t) })
	for ; at < len(s.members) && s.members[at].term == term; at++ {
		group := s.groups[s.members[at].group]
		for _, t := range group.terms {
			if t != term {
				visit(t, group.weight)
			}
		}
	}
}

// forms are groups of what the stemmer does not see to be one word: forms,
// spellings and abbreviations. Both these and likewise are what people call
// things who ask for work to be done: general knowledge, taken from no catalog.
const forms = `
analysis analyze analyse analytics; authentication auth; authorization authorise; subscription subscribe;
description describe desc; conversion convert; comparison compare; computation calculate calc; explanation explain;
reply response respond answer; payment pay paid; purchase buy bought; sale sell sold; sent send;
written write wrote; found find; choice choose chosen; growth grow; flight fly; belief believe; loss lose lost;
advice advise advisor; person people; child children; man men; woman women; index indices; matrix matrices;
criterion criteria; medium media; summary summarize summarise; category categorize classify classification;
optimize optimise; organization organisation org; color colour; favorite favourite; center centre; license licence;
catalog catalogue; dialog dialogue; gray grey; configuration config; repository repo; database db;
document doc; documentation docs; directory dir folder; image img picture photo; video clip movie film;
application app; message msg; environment env; administrator admin; account acct; number num; address addr;
information info; temperature temp; latitude lat; longitude lng lon long; maximum max; minimum min;
average avg mean; parameter param; argument arg; specification spec; statistics stats; production prod;
development dev; command cmd; reference ref; previous prev; quantity qty; department dept;
university college school; identifier id; timezone tz; theater theatre; fiber fibre; meter metre; liter litre;
check cheque; program programme; defense defence; offense offence; practice practise; 
tire tyre; postcode zipcode; aluminum aluminium; airplane aeroplane; jewelry jewellery; plow plough
`

// likewise are groups of words, of which one is often used where a tool's
// author has used another.
const likewise = `
create add new make insert build generate; delete remove erase destroy drop clear purge discard trash;
trash bin rubbish garbage waste recycle; sprint iteration cycle; unread unseen new;
get fetch retrieve read obtain show view display; list enumerate show browse;
update edit modify change set alter adjust patch; search find lookup query seek discover locate;
send post submit deliver transmit; run execute start launch invoke trigger perform begin;
stop cancel abort terminate halt kill end; enable activate; disable deactivate; open launch; close shut resolve finish complete;
copy duplicate clone replicate; move transfer relocate migrate; rename retitle; replace substitute swap;
merge combine join consolidate unite concatenate; split divide separate; compare diff difference contrast versus;
convert transform translate change; download fetch save export; upload import attach put; save store persist keep;
backup snapshot archive; restore recover undo revert rollback; publish release deploy; install setup deploy;
configure setup set; check verify validate test confirm inspect; count number total amount many;
calculate compute evaluate solve determine; estimate predict forecast projection;
analyze evaluate assess examine review inspect; summarize condense brief digest outline; extract parse scrape crawl;
monitor watch track observe follow; log record track; schedule plan arrange book appointment; book reserve;
assign allocate delegate; invite add; share grant give; grant permit allow permission access; revoke deny block ban;
approve accept confirm; reject decline refuse deny; subscribe follow watch register; register signup enroll join;
login signin authenticate logon; logout signout; lock protect freeze; unlock unprotect unblock;
sort order rank arrange; filter narrow restrict; recommend suggest propose advise; explain describe clarify;
notify alert warn remind notification alarm; comment note remark annotation reply; rate review feedback score;
favorite star bookmark; buy purchase order shop; sell trade; pay payment charge checkout; price cost fee rate quote;
cheap affordable inexpensive budget; invoice bill receipt; refund reimburse return; money currency cash funds;
salary wage income earnings; tax vat duty; loan mortgage credit lending; stock share equity ticker;
company business firm corporation enterprise organization; customer client buyer;
employee worker staff personnel colleague; user member person people account; contact person; team group squad;
owner author creator; manager supervisor; email mail inbox message; message chat text sms dm;
call phone dial telephone; meeting event appointment calendar; calendar agenda schedule;
task todo ticket issue item; issue bug ticket problem error defect; error exception failure fault crash;
project workspace board; folder directory path; file document attachment; page article post document;
picture image photo photograph; image icon logo; draw paint sketch illustrate; video movie film clip;
movie film cinema; music song track audio; song lyrics melody; podcast episode show; news headline article press;
website site web page url webpage; link url uri address; code source program script snippet;
function method procedure; branch fork; commit change revision; pr pull merge; pipeline workflow build ci;
job task run; machine vm server instance host; container docker pod; cluster kubernetes; cloud hosted;
bucket storage blob; secret password credential key token; role permission privilege; policy rule;
setting configuration option preference config; version release revision; tag label; category type class genre;
field column attribute property; table sheet spreadsheet grid; row record entry; chart graph plot diagram;
report summary overview dashboard; metric statistic measure kpi; status state progress condition;
history past previous log; latest recent newest current; today current; time hour clock; date day; weekday day week;
duration length; worklog hours timesheet; place location spot venue; location position coordinates geolocation;
address street; map route directions navigation; direction route way; distance far; near nearby closest around;
city town; country nation; restaurant dining food eat; recipe dish meal cooking;
hotel accommodation lodging stay room; flight airline plane airport;
trip travel journey vacation holiday tour itinerary; train rail railway; car vehicle automobile; taxi cab ride;
weather forecast temperature rain; temperature heat warm cold; job career vacancy employment position; resume cv;
hire recruit; course class lesson tutorial; student pupil learner; learn study teach education;
quiz question exam test; book novel; word term vocabulary; definition meaning dictionary; synonym thesaurus;
language translate; text string content; random arbitrary; size length dimension; width height dimension;
area surface; speed velocity fast; weight mass; health medical; doctor physician; patient person;
disease illness symptom; medicine drug medication; exercise workout fitness training; diet nutrition calories;
sport game match; game play; player athlete; team club; league tournament competition; score result; gift present;
product item goods merchandise; order purchase; cart basket; shipment delivery shipping parcel package;
coupon discount promo deal voucher offer; ad advertisement campaign marketing;
property house home apartment realestate; rent lease rental; law legal; contract agreement;
crypto cryptocurrency bitcoin coin; wallet balance; bank account; transfer send; pdf document; browser web;
click press tap; screenshot capture; print output; encrypt cipher encode; decrypt decode decipher;
compress zip shrink; decompress unzip; debug troubleshoot diagnose; lint format style;
dependency package library module; terminal shell console bash command; process pid; memory ram; cpu processor;
disk drive; network internet connection; firewall security; vulnerability cve exploit weakness;
threat malware virus attack; certificate ssl tls cert; domain dns hostname; webhook callback hook; api endpoint;
cache redis; cron schedule; traffic visit visitor; slide presentation deck powerpoint;
spreadsheet excel workbook sheet; form survey questionnaire poll; contact lead prospect crm;
ticket support helpdesk case; attendance leave absence; inventory stock warehouse; supplier vendor seller merchant;
store shop; clothes fashion outfit wear apparel; attraction landmark sightseeing; museum gallery exhibition;
hike trail; parking garage; fuel gas petrol gasoline; hospital clinic; dentist dental; pregnancy pregnant baby;
therapy therapist counseling psychology mental; invest portfolio investor; debt loan; insurance coverage premium;
expense spending cost; profit revenue earnings gain; exchange conversion; forex currency;
chemical chemistry compound molecule; gene dna genome; planet astronomy space; equation formula math;
derivative differentiate; probability odds chance; root sqrt; earthquake quake seismic;
storm hurricane disaster flood; pollution aqi; plant flower garden; animal pet; energy power electricity;
artist singer band musician performer; concert gig festival event; actor actress cast; director filmmaker;
tv television series; cartoon anime manga; joke humor funny; quote saying quotation; poem poetry;
story tale fiction; radio station broadcast; stream live; trending popular top best; follower friend;
profile bio; birthday birth anniversary age; light lamp bulb; thermostat heating; device sensor; sound volume audio;
grammar spelling proofread; rewrite paraphrase rephrase; sentiment emotion mood feeling; speech voice speak;
transcribe transcription subtitle caption; ocr scan; hash checksum; law statute legislation; court judge trial;
lawyer attorney; patent trademark; election vote; crime police; teacher tutor instructor professor;
grade mark score; homework assignment; research paper study publication; citation bibliography;
bible scripture verse; horoscope zodiac astrology; fortune tarot; ingredient food; drink cocktail beverage;
grocery supermarket; menu dish; bus transit subway metro; bike bicycle cycling; boat ship vessel cruise;
timer countdown stopwatch; soccer football; standings ranking leaderboard; bet odds; dice roll; lottery jackpot;
volunteer charity donation; brainstorm idea inspiration; goal objective target; habit routine; skill ability
`

// ways are words that people say and, after each, those by which its author may
// call a tool that does that among other things.
const ways = `
close update transition write; reopen update transition open; finish update complete transition; complete update transition close;
rename update edit; assign update; create write manage; add write manage; update write manage; edit write manage;
delete write manage; remove write manage; archive update; approve review; trash delete remove; bin delete remove
`
