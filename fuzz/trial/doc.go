// Package trial says how much a test tries, and where the shared data lies. It
// is for tests and benchmarks alone, and imports nothing of this module.
package trial
