/**
 * A run for every kind of workload, for self-fencing, and for the moves beyond one hand-over: what
 * test:full runs on kind and docs/reference/workloads.md tells. Timers are shortened in all of them.
 */
import type { MeasuredCase } from './measured-case.ts';

const fence = '--self-fence-after 5s';

export const workloadCases: readonly MeasuredCase[] = [
  {
    name: 'deployment-none',
    experiment: 'network-partition',
    flags: '--workload deployment-recreate --remedy none --horizon 100s',
    secondMount: false,
    shows: 'the replacement comes at once, and waits: Multi-Attach error',
  },
  {
    name: 'deployment-force-delete',
    experiment: 'network-partition',
    flags: '--workload deployment-rolling-update --remedy force-delete',
    secondMount: true,
    shows: 'once the old pod is gone, a Deployment behaves like a StatefulSet',
  },
  {
    name: 'binlog-off',
    experiment: 'network-partition',
    flags: '--binlog off --remedy force-delete',
    secondMount: true,
    shows: 'the same without a binary log',
  },
  {
    name: 'self-fence-kill',
    experiment: 'api-partition',
    flags: `--self-fence lease ${fence}`,
    secondMount: true,
    shows: 'the database is killed in time; the file system is still mounted at the heal',
  },
  {
    name: 'self-fence-read-only',
    experiment: 'api-partition',
    flags: `--self-fence lease-read-only ${fence}`,
    secondMount: true,
    shows: 'the file system becomes read-only as well, so the heal writes nothing',
  },
  {
    name: 'self-fence-frozen',
    experiment: 'zombie',
    flags: `--self-fence lease-read-only ${fence}`,
    secondMount: true,
    shows: 'a frozen sidecar does not end the database',
  },
  {
    name: 'uncertain-attachment',
    experiment: 'uncertain-attachment',
    flags: '',
    secondMount: true,
    shows: 'the storage refuses the detach, and grants the second attach',
  },
  {
    name: 'stale-global-mount',
    experiment: 'stale-global-mount',
    flags: '--converge 60s',
    secondMount: true,
    shows: 'A→B→A without a reboot, the old pod slow to stop',
  },
  {
    name: 'same-node-recreate',
    experiment: 'same-node-recreate',
    flags: '--recreations 8 --also-at 15s --also-for 25s',
    secondMount: false,
    shows: 'a pod deleted eight times on one node, four times by force',
  },
];
