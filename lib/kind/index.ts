/** A real cluster of containers: engine, images, nodes, disks, observers, and what is reaped. */
export { kindAuditor } from './testbed.ts';
export { type PoolChoice, kindBackend, type Pool, PooledClusters } from './backend.ts';
export { type ClusterChoice, type OpenCluster, openCluster } from './cluster.ts';
export { runStates } from './crash-states/run-states.ts';
export {
  kindControlPlane,
  startControllerManager,
  stopControllerManager,
} from './create/control-plane.ts';
export { type Lab, labIn, labNode, startArray } from './disk/containers.ts';
export { diskTool } from './disk/disk.ts';
export { startInitiator } from './disk/storage-network.ts';
export * as engine from './engine/commands.ts';
export { byHand, start, version } from './engine/commands.ts';
export { containerShell } from './engine/container-shell.ts';
export {
  commandError,
  copyTimeoutMs,
  inspect,
  list,
  pasteable,
  run,
  tryRun,
} from './engine/run.ts';
export { $ } from './engine/shell.ts';
export { cacheFolder, pruneImages, ensureImages } from './images/ensure.ts';
export { publishedRuntime } from './images/part.ts';
export {
  describePlan,
  planImages,
  type SourceChoice,
  askRegistry,
  chooseSource,
} from './images/image-plan.ts';
export { kubernetesOf } from './kubernetes.ts';
export { procedures, removeProcedures } from './labelled.ts';
export { killServers } from './nodes/acts.ts';
export { observeCluster, observeMachine, versionsOf } from './observe/cluster.ts';
export { label } from './ownership/registry.ts';
export { type MarkedContainer, labsOf, markLab, removeLab, whyLabStays } from './ownership/labs.ts';
export { leaseAt, leaseCount } from './ownership/lease.ts';
export { reap } from './ownership/reap.ts';
export { type CheckResult, localToolsImage, runPreflight } from './preflight.ts';
export { soleScope } from './scope.ts';
export { restoreNodes, unmarkNodes } from './undo-remedies.ts';
