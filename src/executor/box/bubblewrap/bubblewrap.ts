// The door to boxes that bubblewrap makes, one for each phase, and to what such a box is made of: a keeper shows its boxes
// the same file system and environment, and a compiler that stays stands in one.
export {
  boxUid,
  deviceLinks,
  devices,
  environment,
  readHostRoot,
  type RootEntry,
} from './arguments.ts'
export { captureOutput } from './capture.ts'
export { dropTo } from './child.ts'
export { findInheritedDescriptors } from './inherited-descriptors.ts'
export { watchLimits } from './limit-watch.ts'
export { awaitBox, openBox, ownProcesses, type BoxResources, type OpenBox } from './open-box.ts'
export { runPhase } from './run-phase.ts'
export { spawnBox } from './spawn-box.ts'
export { createStandardStreams, removeStandardStreams } from './standard-stream.ts'
