/** The face of this room: a cluster of our own on kind, runs on it, and what is removed after them. */
export { kindAuditor } from './auditor.ts';
export { kindBackend, type PoolChoice } from './backend.ts';
export { type ClusterChoice, type OpenCluster, openCluster } from './cluster.ts';
export { runStates } from './crash-states/run-states.ts';
export {
  kindControlPlane,
  startControllerManager,
  stopControllerManager,
} from './create/control-plane.ts';
export { startArray } from './disk/containers.ts';
export {
  copyVolume,
  createVolume,
  holdCall,
  identifyVolume,
  letGoCalls,
  releaseNode,
} from './disk/disk-tool.ts';
export { type Lab, labIn } from './disk/containers.ts';
export { soleScope } from './scope.ts';
export { kubernetesOf } from './kubernetes.ts';
export { procedures, removeProcedures } from './labelled.ts';
export { killServers } from './nodes/acts.ts';
export { observeCluster, observeMachine } from './observe/cluster.ts';
export { versionsOf } from './observe/cluster.ts';
export { label } from './ownership/labels.ts';
export { labsOf, type MarkedContainer, markLab, removeLab, whyLabStays } from './ownership/labs.ts';
export { leaseAt, leaseCount } from './ownership/lease.ts';
export { reap } from './ownership/reap.ts';
export { type Pool, PooledClusters } from './pooled-clusters.ts';
export { type CheckResult, localToolsImage, runPreflight } from './preflight.ts';
export { restoreNodes, unmarkNodes } from './undo-remedies.ts';
