package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The benchmarks and the gate of this file read labelled data: $RETRIEVAL_DIR,
// or ../shared/retrieval beside the repository; its README says what is in such
// a folder. Without one they are skipped.
//
//	go test ./catalog -run '^$' -bench Retrieval -benchtime 1x

// BenchmarkRetrieval is how well and how fast Search finds what the queries
// of each data set ask for, and the mean over the data sets.
func BenchmarkRetrieval(b *testing.B) {
	reportAll(b, func(c *Catalog) ranker {
		return func(query string, n int) []string { return namesOf(c.Search(query, n)) }
	})
}

// BenchmarkBaseline is the same for simpler searches.
func BenchmarkBaseline(b *testing.B) {
	for _, base := range []struct {
		name string
		make func(*Catalog) ranker
	}{{"substring", substring}, {"any-word", anyWord}, {"bm25", plainBM25}} {
		b.Run(base.name, func(b *testing.B) { reportAll(b, base.make) })
	}
}

// The quality that the development half of the data has to be searched with.
// It is the same in every run, so this is a test.
func TestRetrievalQuality(t *testing.T) {
	if os.Getenv("RETRIEVAL_DIR") != "" {
		t.Skip("the gates are those of the data in ../shared")
	}
	var all []quality
	for _, set := range dataSets(t) {
		c := set.catalog()
		all = append(all, measure(set, func(query string, n int) []string { return namesOf(c.Search(query, n)) }, nil))
	}
	got := macro(all)
	for _, gate := range []struct {
		metric    string
		got, want float64
	}{{"recall@5", got.recall[2], .80}, {"recall@10", got.recall[3], .855}, {"nDCG@10", got.ndcg, .75}} {
		if gate.got < gate.want {
			t.Errorf("macro %s is %.4f, want at least %.3f", gate.metric, gate.got, gate.want)
		}
	}
}

// A ranker returns the names of at most n tools for a query, best first.
type ranker func(query string, n int) []string

func namesOf(hits []Hit) []string {
	names := make([]string, len(hits))
	for i := range hits {
		names[i] = hits[i].Tool.Name
	}
	return names
}

// reportAll runs a sub-benchmark for each data set, and one for their mean.
func reportAll(b *testing.B, make func(*Catalog) ranker) {
	var all []quality
	var times [][]time.Duration
	for _, set := range dataSets(b) {
		rank := make(set.catalog())
		measured := sync.OnceValues(func() (quality, []time.Duration) { return timed(set, rank) })
		b.Run(set.name, func(b *testing.B) {
			for b.Loop() {
				measured()
			}
			q, took := measured()
			q.report(b, took)
		})
		q, took := measured()
		all, times = append(all, q), append(times, took)
	}
	b.Run("macro", func(b *testing.B) {
		for b.Loop() {
		}
		macro(all).report(b, slices.Concat(times...))
	})
}

// timed measures a data set. Each query is asked three times, and the
// shortest time counts: what took longer, took something else.
func timed(set dataSet, rank ranker) (q quality, took []time.Duration) {
	for range 3 {
		var again []time.Duration
		q = measure(set, rank, &again)
		for i := range took {
			again[i] = min(again[i], took[i])
		}
		took = again
	}
	return q, took
}

// depth is how many tools a search is asked for.
const depth = 10

// cutoffs are the depths at which recall is measured.
func cutoffs() [4]int { return [...]int{1, 3, 5, depth} }

// A quality is what was found of what was asked for.
type quality struct {
	recall    [4]float64 // at each of the cutoffs
	mrr, ndcg float64
}

// measure asks the queries of a data set and appends how long each took.
func measure(set dataSet, rank ranker, took *[]time.Duration) quality {
	all := make([]quality, len(set.questions))
	for i, q := range set.questions {
		start := time.Now()
		found := rank(q.Query, depth)
		if took != nil {
			*took = append(*took, time.Since(start))
		}
		all[i] = judge(found, q.Relevant)
	}
	return macro(all)
}

// judge compares a list of names with the relevant ones, as the README of the
// data says.
func judge(found, relevant []string) (q quality) {
	for i, k := range cutoffs() {
		for _, name := range found[:min(k, len(found))] {
			if slices.Contains(relevant, name) {
				q.recall[i] += 1 / float64(len(relevant))
			}
		}
	}
	gain, ideal := 0.0, 0.0
	for i, name := range found {
		if !slices.Contains(relevant, name) {
			continue
		}
		gain += 1 / math.Log2(float64(i+2))
		q.mrr = max(q.mrr, 1/float64(i+1))
	}
	for i := range min(depth, len(relevant)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	q.ndcg = gain / ideal
	return q
}

// macro is the mean of several measurements.
func macro(all []quality) (mean quality) {
	n := float64(len(all))
	for _, q := range all {
		for i := range q.recall {
			mean.recall[i] += q.recall[i] / n
		}
		mean.mrr += q.mrr / n
		mean.ndcg += q.ndcg / n
	}
	return mean
}

func (q quality) report(b *testing.B, took []time.Duration) {
	for i, k := range cutoffs() {
		b.ReportMetric(q.recall[i], fmt.Sprintf("recall@%d", k))
	}
	b.ReportMetric(q.mrr, "mrr")
	b.ReportMetric(q.ndcg, "ndcg@10")
	b.ReportMetric(percentile(took, .5), "us/query-p50")
	b.ReportMetric(percentile(took, .99), "us/query-p99")
	b.ReportMetric(0, "ns/op")
}

// percentile is in µs.
func percentile(took []time.Duration, p float64) float64 {
	slices.Sort(took)
	return float64(took[int(p*float64(len(took)-1))].Nanoseconds()) / 1000
}

// A dataSet is queries to a catalog, and what they should find.
type dataSet struct {
	name      string
	tools     []json.RawMessage
	questions []question
}

type question struct {
	Query    string
	Relevant []string
	Lang     string // "": English
}

func (s dataSet) catalog() *Catalog { return catalogOf(s.tools) }

func catalogOf(tools []json.RawMessage) *Catalog {
	data, _ := json.Marshal(map[string]any{"tools": tools})
	c, _ := New([][]byte{data})
	return c
}

// dataSets are those of the folder, or the test is skipped.
func dataSets(t testing.TB) (all []dataSet) {
	t.Helper()
	dir := retrievalDir()
	index, err := os.ReadFile(filepath.Join(dir, "datasets.json"))
	if err != nil {
		t.Skip("no labelled data here: ", err)
	}
	for _, v := range gjson.ParseBytes(index).Array() {
		set := dataSet{name: v.Get("name").Str, tools: toolsIn(t, filepath.Join(dir, "catalogs", v.Get("catalog").Str+".json"))}
		for line := range strings.Lines(string(read(t, filepath.Join(dir, "queries", set.name+".jsonl")))) {
			var q question
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				t.Fatalf("queries of %s: %v in %s", set.name, err, line)
			}
			set.questions = append(set.questions, q)
		}
		all = append(all, set)
	}
	return all
}

func toolsIn(t testing.TB, path string) (tools []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(read(t, path), &tools); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tools
}

// BenchmarkSize is what building an index of so many tools takes, and searching
// it: the catalogs of the data sets, filled up with tools of other servers.
func BenchmarkSize(b *testing.B) {
	sets := dataSets(b)
	for _, n := range []int{1000, 5000} {
		filled := fill(b, sets, n)
		b.Run(fmt.Sprint(n, "/build"), func(b *testing.B) {
			c := filled[0].catalog()
			b.ReportAllocs()
			for b.Loop() {
				buildIndex(c.tools, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/build")
		})
		b.Run(fmt.Sprint(n, "/sentence"), func(b *testing.B) { benchQueries(b, filled) })
		for i := range filled {
			filled[i].questions = []question{{Query: "worklog"}, {Query: "log work on an issue"}, {Query: "create issue"}, {Query: "send an email"}}
		}
		b.Run(fmt.Sprint(n, "/short"), func(b *testing.B) { benchQueries(b, filled) })
	}
}

// fill fills each catalog of fewer than n tools up to n with tools whose
// description no tool of it has.
func fill(b *testing.B, sets []dataSet, n int) (filled []dataSet) {
	path := filepath.Join(retrievalDir(), "catalogs", "distractors.json")
	if _, err := os.Stat(path); err != nil {
		b.Skip("no tools to fill catalogs with: ", err)
	}
	others := toolsIn(b, path)
	for _, set := range sets {
		if len(set.tools) > n {
			continue
		}
		own := map[string]bool{}
		for _, tool := range set.tools {
			own[gjson.GetBytes(tool, "description").Str] = true
		}
		set.tools = slices.Clone(set.tools)
		for i := 0; i < len(others) && len(set.tools) < n; i++ {
			if !own[gjson.GetBytes(others[i], "description").Str] {
				set.tools = append(set.tools, others[i])
			}
		}
		filled = append(filled, set)
	}
	return filled
}

// benchQueries asks all queries of the sets.
func benchQueries(b *testing.B, sets []dataSet) {
	var all []time.Duration
	for _, set := range sets {
		c := set.catalog()
		_, took := timed(set, func(query string, n int) []string { c.Search(query, n); return nil })
		all = append(all, took...)
	}
	c := sets[0].catalog()
	c.Search("warm", 1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Search(sets[0].questions[i%len(sets[0].questions)].Query, depth)
		i++
	}
	b.ReportMetric(percentile(all, .5), "us/query-p50")
	b.ReportMetric(percentile(all, .99), "us/query-p99")
}

// retrievalDir is the folder of the data. Where it is given from the
// repository's root, it is one level up from here.
func retrievalDir() string {
	dir := cmp.Or(os.Getenv("RETRIEVAL_DIR"), "../shared/retrieval")
	if _, err := os.Stat(filepath.Join("..", dir)); err == nil && !filepath.IsAbs(dir) {
		return filepath.Join("..", dir)
	}
	return dir
}
