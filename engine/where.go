package engine

import (
	"fmt"

	"ctxdb/format"
)

// Location is where bytes of a turn lie in the file.
type Location struct {
	Region  string // "log frame", "content block", "source block"
	Offset  int64
	Stored  int64 // bytes in the file, other turns' in the same block included
	Raw     int64 // bytes of plaintext
	Codec   string
	Segment uint64 // number; 0: the log
}

// Where says where the bytes of a turn are. Errors are those of Get.
func (db *DB) Where(id TurnID) ([]Location, error) {
	var all []Location
	err := db.do(func(v *view) error {
		all = nil
		if l := v.loggedOf(uint64(id)); l != nil {
			n := int64(len(l.record) + len(l.source))
			all = []Location{{Region: "log frame", Offset: l.at, Stored: n, Raw: n, Codec: "none"}}
			return nil
		}
		s := v.segmentOf(uint64(id))
		if s == nil || uint64(id) >= v.nextID {
			return v.absent(uint64(id))
		}
		list, err := s.Where(uint64(id))
		for _, l := range list {
			all = append(all, Location{
				Region: streamName(l.Stream), Offset: l.Offset, Stored: int64(l.Stored), Raw: int64(l.Raw),
				Codec: codecName(l.Codec), Segment: s.Entry().Number,
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	return all, nil
}

func streamName(s format.Stream) string {
	if s == format.StreamSource {
		return "source block"
	}
	return "content block"
}

func codecName(c format.Codec) string {
	return map[format.Codec]string{format.CodecRaw: "none", format.CodecZstd: "zstd", format.CodecZstdDict: "zstd with dictionary"}[c]
}
