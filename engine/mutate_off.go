//go:build !ctxdbmutate

package engine

// The steps of a publication that the mutation control can leave out. In every
// normal build none is, and the constants cost nothing: see mutate_on.go.
const (
	mutateOnce    = false
	mutateConfirm = false
)
