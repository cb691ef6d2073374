// The door to what the executor's rooms agree on: what is asked of it, what becomes of a program, and what a box is. It
// makes nothing and knows none of them.
//
// A *request* is one program to run. It has one *phase* or more, compile and runs; a phase is a *command* in a fresh *box*, in
// a *slot* that is nobody else's meanwhile. What a phase became is judged by the *evidence*, strongest first.
export * from './boxes.ts'
export * from './command.ts'
export { describeError as describe, readErrorCode as readCode } from '#error-text'
export * from './judge-ending.ts'
export * from './names.ts'
export * from './outcome.ts'
export * from './request.ts'
export * from './startable.ts'
