package fuzz

import (
	"ctxdb/format/disk"
)

// history draws n operations. With crashes there are lives that end badly.
func history(rng numbers, n int, crashes bool) []operation {
	ops := make([]operation, n)
	for i := range ops {
		if crashes && rng.IntN(24) == 0 {
			ops[i] = drawCrash(rng)
			continue
		}
		ops[i] = drawOperation(rng)
	}
	return ops
}

func drawOperation(rng numbers) operation {
	switch x := rng.IntN(100); {
	case x < 55:
		return appendOp{{size: small, kind: drawKind(rng), pick: rng.IntN(1 << 16)}}
	case x < 68:
		return drawBatch(rng, tiny, 2+rng.IntN(6))
	case x < 74:
		return drawBatch(rng, small, 2+rng.IntN(14))
	case x < 78:
		return appendOp{{size: long, pick: rng.IntN(1 << 16)}}
	case x < 79:
		return appendOp{{size: huge}}
	case x < 80:
		return drawBatch(rng, long, 2+rng.IntN(3))
	case x < 84:
		return appendOp{{size: tiny, kind: repeat, pick: rng.IntN(1 << 16)}}
	case x < 86:
		return appendOp{{size: small}, {size: small, kind: conflict + itemKind(rng.IntN(2)), pick: rng.IntN(1 << 16)}}
	case x < 89:
		return checkpointOp{}
	case x < 91:
		return syncOp{}
	case x < 94:
		return readOp{}
	case x < 95:
		return searchOp{}
	case x < 97:
		return windowOp{rng.IntN(1 << 16), rng.IntN(64)}
	}
	return reopenOp{}
}

func drawKind(rng numbers) itemKind {
	if rng.IntN(3) == 0 {
		return reply
	}
	return fresh
}

func drawBatch(rng numbers, s size, n int) appendOp {
	var o appendOp
	for range n {
		kind := drawKind(rng)
		if rng.IntN(12) == 0 {
			kind = repeat
		}
		o = append(o, item{size: s, kind: kind, pick: rng.IntN(1 << 16)})
	}
	return o
}

func drawCrash(rng numbers) operation {
	modes := disk.Variants(uint64(rng.IntN(1 << 16)))
	v := modes[rng.IntN(len(modes))]
	switch rng.IntN(6) {
	case 0:
		return restartOp{}
	case 1, 2:
		return powerOp{v}
	case 3:
		return tripOp{n: rng.IntN(60), kill: true}
	}
	return tripOp{n: rng.IntN(24), v: v}
}
