/** The model: what Kubernetes, the disks and a database do, in virtual time. */
export {
  type NodeObject,
  type PodObject,
  type NoticeCode,
  noticeNames,
  notices,
} from './sightings.ts';
export { auditUs } from './facade/auditor.ts';
export { simBackend } from './backend.ts';
export {
  simCapabilities,
  modelVersion,
  type Model,
  type ModelSize,
  neverReady,
  readyWithinMs,
  startModel,
} from './model.ts';
export { Chance, Kernel, type Timer } from './kernel.ts';
export type { NodeMachine } from './machine.ts';
export type { ModelServer } from './server.ts';
export { clientTimeoutUs, measuredTimes, msUs, secondUs } from './timings.ts';
