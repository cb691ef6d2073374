// The door to boxes that bubblewrap makes, one for each phase, and to what such a box is made of: a keeper shows its boxes
// the same file system and environment, and a compiler that stays stands in one.
export {
  boxUid,
  buildArguments,
  deviceLinks,
  devices,
  environment,
  readHostRoot,
  type RootEntry,
} from './arguments.ts'
export { captureOutput } from './capture.ts'
export { dropTo, startChild, type Child } from './child.ts'
export { findInheritedDescriptors } from './inherited-descriptors.ts'
export { watchLimits } from './limit-watch.ts'
export { refuseOutside, runPhase, type BoxResources } from './run-phase.ts'
export { createStandardStreams, removeStandardStreams } from './standard-stream.ts'
