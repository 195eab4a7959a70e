// Package bench measures ctxdb against the floor under it: what the disk and
// the decoder cost when nothing else is done. Each benchmark measures the floor
// and the engine alternately in one run and reports both and their ratio, so
// that a noisy machine disturbs both alike.
//
//	go test -run xxx -bench . ./bench
//	go test -run xxx -bench Fault/cache=warm ./bench
//
// Turns come from genuine coding sessions where the folder of real data is at
// hand, else they are made; either way the same ones in each run. Peers are
// measured in the module bench/peers, so that their dependencies reach no user;
// README.md beside this file has the figures.
package bench
