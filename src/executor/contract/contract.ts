// The types and functions that the executor's modules share: requests, outcomes and boxes. This module creates no box and
// imports none of the executor's other modules.
//
// A *request* is one program to run. It has one or more *phases*: a compilation and runs. A phase runs one *command* in a
// fresh *box*, in a *slot* that no other request uses meanwhile. A phase is judged by its *evidence*, the strongest first.
export * from './boxes.ts'
export * from './command.ts'
export { describeError as describe, readErrorCode as readCode } from '#error-text'
export * from './judge-ending.ts'
export * from './outcome.ts'
export * from './request.ts'
export * from './startable.ts'
