// The door to bubblewrap's boxes, and to what keepers and resident compilers share with them.
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
