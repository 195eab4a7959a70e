// Package bench measures ctxdb against the floor under it: what the disk and
// the decoder cost when nothing else is done. Each benchmark measures the floor
// and the engine alternately in one run and reports both and their ratio, so
// that a noisy machine disturbs both alike.
//
//	go test -run xxx -bench . ./bench
//
// Peers are measured in the module bench/peers, so that their dependencies
// reach no user.
package bench
