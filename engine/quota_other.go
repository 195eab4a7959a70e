//go:build !unix

package engine

func isQuota(error) bool { return false }
