/**
 * A run for every remedy and its options: what test:full runs on kind and docs/reference/remedies.md tells.
 * Timers are shortened in all of them.
 */
import type { MeasuredCase } from './measured-case.ts';

const partition = (
  name: string,
  flags: string,
  secondMount: boolean | undefined,
  shows: string,
): MeasuredCase => ({ name, experiment: 'network-partition', flags, shows, secondMount });

const healthy = (name: string, flags: string, shows: string): MeasuredCase => ({
  name,
  experiment: 'healthy-node',
  flags: `${flags} --horizon 60s`.trim(),
  shows,
  secondMount: true,
});

const gone = '--termination-grace 0s --remedy-at pod-gone';

export const remedyCases: readonly MeasuredCase[] = [
  partition('delete-node', '--remedy delete-node', true, 'deleting the Node object does not fence'),
  partition(
    'drain',
    '--remedy drain --horizon 100s',
    false,
    'a drain of a lost node waits for its kubelet, and gives up',
  ),
  partition(
    'delete',
    '--remedy delete --remedy-at not-ready --horizon 100s',
    false,
    'a plain delete waits for the kubelet too',
  ),
  partition('fence-first', '--remedy fence-first', true, 'cut off first, then tainted'),
  partition(
    'no-grace-period',
    '--remedy none --termination-grace 0s',
    true,
    'without a grace period no operator is needed: eviction itself is a forced deletion',
  ),
  partition(
    'force-detach-off',
    '--remedy force-delete --force-detach off --horizon 100s',
    false,
    'with --disable-force-detach-on-timeout the wait never ends',
  ),
  partition(
    'delete-attachment',
    `--remedy delete-attachment ${gone} --force-detach off`,
    true,
    'a VolumeAttachment deleted by hand ends the wait within a minute, flag or not',
  ),
  partition(
    'strip-attachment-finalizer',
    `--remedy strip-attachment-finalizer ${gone} --horizon 100s`,
    undefined,
    'the attacher was faster than the patch of the finalizer',
  ),
  partition(
    'strip-attachment-finalizer-unasked',
    `--remedy strip-attachment-finalizer ${gone} --horizon 100s ` +
      '--also attacher-down --also-at 15s --also-for 40s',
    false,
    'without a detach request the storage refuses the next node',
  ),
  partition(
    'strip-pod-finalizer',
    '--pod-finalizer --remedy strip-pod-finalizer',
    true,
    'a removed finalizer protects nothing',
  ),
  partition(
    'untaint-at-heal',
    '--remedy out-of-service --untaint-at heal',
    true,
    'the time at which the taint is removed makes no difference',
  ),
  partition(
    'power-off-and-taint',
    '--remedy power-off-and-taint --remedy-at not-ready',
    true,
    'switched off first, then tainted',
  ),
  partition(
    'delete-machine',
    '--remedy delete-machine --remedy-at not-ready',
    true,
    'switched off first, then the Node object is deleted',
  ),
  partition(
    'asks-the-cloud-cut-off',
    '--remedy delete-node --remedy-at not-ready --remedy-if-off --horizon 100s',
    false,
    'who asks the cloud first leaves the Node object of a machine that runs',
  ),
  {
    name: 'asks-the-cloud-off',
    experiment: 'node-crash',
    flags: '--remedy delete-node --remedy-at not-ready --remedy-if-off',
    shows: 'the same where the machine is off',
    secondMount: true,
  },
  {
    name: 'asks-the-cloud-taint',
    experiment: 'node-crash',
    flags: '--remedy out-of-service --remedy-at not-ready --remedy-if-off',
    shows: 'asked first, then tainted',
    secondMount: true,
  },
  {
    name: 'leftover-taint',
    experiment: 'node-reboot',
    flags:
      '--remedy out-of-service --reboot-at 70s --untaint-at kept --overlap 40s --horizon 120s ' +
      '--converge 60s',
    shows: 'a taint that stays on a rebooted node keeps its pods away',
    secondMount: true,
  },
  healthy('live-taint', '--remedy out-of-service', 'the taint on a healthy node'),
  healthy('live-drain', '--remedy drain', 'a planned move: unmounted before it is mounted'),
];
