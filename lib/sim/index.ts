/** The model: what Kubernetes, the disks and a database do, in virtual time. */
export type { PodObject } from './api-objects.ts';
export { simBackend } from './backend.ts';
export { simCapabilities } from './capabilities.ts';
export { Chance } from './chance.ts';
export { Kernel, type Timer } from './kernel.ts';
export { modelVersion } from './limits.ts';
export type { NodeMachine } from './machine.ts';
export { type Model, type ModelSize, neverReady, readyWithinMs, startModel } from './model.ts';
export { type NoticeCode, noticeNames, notices } from './notices.ts';
export type { ModelServer } from './server.ts';
export { msUs, secondUs } from './timings.ts';
