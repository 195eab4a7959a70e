// Package fuzz holds package engine against a naive model of what a ctxdb file
// is: a list of turns. It cuts the power at every operation, fails every
// operation, and reads what is left.
package fuzz
