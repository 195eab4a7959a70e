package main

import (
	"time"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
)

const importBatch = 1000

// importPhase appends turns in batches, each durable, and closes.
func importPhase(t task, p peer, set *workload.Set) (figures, error) {
	stop := watch()
	before, count := measure.Used(), countAllocations()
	base := measure.AnonBytes()
	start := time.Now()
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	var content int64
	for i := t.From; i < t.From+t.Turns; i += importBatch {
		batch := set.Slice(i, min(i+importBatch, t.From+t.Turns))
		for _, turn := range batch {
			content += int64(len(turn.Content))
		}
		if err := s.Append(batch); err != nil {
			return nil, err
		}
	}
	closing := time.Now()
	if err := s.Close(); err != nil {
		return nil, err
	}
	took := time.Since(start)
	f := figures{
		"import_s": took.Seconds(), "import_close_s": time.Since(closing).Seconds(),
		"import_turns_per_s": float64(t.Turns) / took.Seconds(),
		"import_mb_per_s":    float64(content) / 1e6 / took.Seconds(),
		"import_cpu_s":       (measure.Used().CPU - before.CPU).Seconds(),
		"import_peak_mib":    float64(stop()-base) / (1 << 20),
		"import_rss_mib":     float64(measure.Used().PeakBytes) / (1 << 20),
		"content_bytes":      float64(content),
	}
	count.put(f, "import", t.Turns)
	size, err := diskBytes(t.Dir)
	f["file_bytes"] = float64(size)
	f["file_ratio"] = float64(size) / float64(content)
	if err != nil || p.name != ctxdbPeer.name {
		return f, err
	}
	return f, putSections(f, t.Dir)
}
