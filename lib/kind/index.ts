/** A real cluster of containers: engine, images, nodes, disks, observers, and what is reaped. */
export { kindAuditor } from './auditor.ts';
export { type PoolChoice, kindBackend } from './backend.ts';
export { type ClusterChoice, type OpenCluster, openCluster } from './cluster.ts';
export { runStates } from './crash-states/run-states.ts';
export {
  kindControlPlane,
  startControllerManager,
  stopControllerManager,
} from './create/control-plane.ts';
export { type Lab, labIn, startArray } from './disk/containers.ts';
export {
  copyVolume,
  createVolume,
  holdCall,
  identifyVolume,
  letGoCalls,
  releaseNode,
} from './disk/disk-tool.ts';
export * as engine from './engine/commands.ts';
export { byHand, start, version } from './engine/commands.ts';
export { containerShell } from './engine/container-shell.ts';
export { pasteable } from './engine/pasteable.ts';
export { commandError, copyTimeoutMs, inspect, list, run, tryRun } from './engine/run.ts';
export { $ } from './engine/shell.ts';
export { cacheFolder, pruneImages } from './images/build.ts';
export { ensureImages } from './images/ensure.ts';
export { harnessVersion } from './images/harness-version.ts';
export { describePlan, planImages } from './images/image-plan.ts';
export { type ImageSource, type SourceChoice, madeBy } from './images/image-set.ts';
export { askRegistry, chooseSource } from './images/source.ts';
export { publishedRuntime } from './images/versions.ts';
export { kubernetesOf } from './kubernetes.ts';
export { procedures, removeProcedures } from './labelled.ts';
export { killServers } from './nodes/acts.ts';
export { observeCluster, observeMachine, versionsOf } from './observe/cluster.ts';
export { label } from './ownership/labels.ts';
export { type MarkedContainer, labsOf, markLab, removeLab, whyLabStays } from './ownership/labs.ts';
export { leaseAt, leaseCount } from './ownership/lease.ts';
export { reap } from './ownership/reap.ts';
export { type Pool, PooledClusters } from './pooled-clusters.ts';
export { type CheckResult, localToolsImage, runPreflight } from './preflight.ts';
export { soleScope } from './scope.ts';
export { restoreNodes, unmarkNodes } from './undo-remedies.ts';
