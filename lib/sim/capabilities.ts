/** What the model has beyond what every backend has, known before one is opened. */
import { capabilitiesBut } from '../core/index.ts';

/** Volumes are there from the start, and gates are played where the model knows them (lib/core/kubernetes.ts). */
export const simCapabilities = capabilitiesBut([
  'node-shell',
  'replication-group',
  'write-log',
  'provisioner',
  'any-gate',
]);
