//go:build !cgo

package main

// mattnAbsent says why a peer is missing.
const mattnAbsent = "sqlite-mattn is left out: it needs cgo and a C compiler"
