/** Flags of the disk, of the path to it, and of what is on it. */
import { Option } from 'commander';
import { diskModes, filesystems, powerLosses, storageLinks } from '../../disk-kinds.ts';
import { accessModes, provisions, type Scenario } from '../../experiment/scenario.ts';
import { nonEmpty } from './flag-values.ts';
import { choice, duration } from './option-kinds.ts';

/** Which kind of disk, whose it was, and who makes the volume. */
function diskKindOptions(base: Scenario): Option[] {
  return [
    choice(
      '--disk <kind>',
      'how the disk answers a detach of a volume in use',
      diskModes,
      base.disk,
    ),
    choice(
      '--provision <how>',
      'dynamic: the official external-provisioner makes the volume, as on most clusters; static: it is there before the run, and nothing but attach and detach is on the way (--cluster kind only)',
      provisions,
      base.provision,
    ),
    new Option(
      '--disk-from <file>',
      'take --disk and --cut-after from a certificate of the probe (docs/how-to/play-a-certificate.md)',
    ).argParser(nonEmpty),
    new Option(
      '--disk-class <name>',
      'with --disk-from: the StorageClass, where the certificate has several',
    ).argParser(nonEmpty),
    duration(
      '--cut-after <time>',
      'ack-early: the node is cut off so long after the detach was answered',
      base.cutAfterMs,
    ),
  ];
}

export function diskOptions(base: Scenario): Option[] {
  return [
    ...diskKindOptions(base),
    choice(
      '--watcher-check <how>',
      'exclusive: whether the question for watchers gets an answer',
      ['works', 'missing'],
      base.watcherCheck,
    ),
    choice(
      '--attach-while-busy <answer>',
      'whether the storage lets a node attach what it still counts as another node’s',
      ['refused', 'granted'],
      base.attachWhileBusy,
    ),
    choice(
      '--file-locks <kind>',
      'shared-file: one lock table for all nodes, or one a node',
      ['shared', 'local'],
      base.fileLocks,
    ),
    choice(
      '--link <fate>',
      'what a partition does to the victim’s path to the disk',
      storageLinks,
      base.link,
    ),
    choice('--fs <kind>', 'file system of the volume', filesystems, base.filesystem),
    choice(
      '--access-mode <mode>',
      'of the volume, as Kubernetes is told',
      accessModes,
      base.accessMode,
    ),
    choice(
      '--flushes <kind>',
      'ignored: the disk acknowledges flushes and does nothing',
      ['honest', 'ignored'],
      base.flushes,
    ),
    choice(
      '--power-loss <fate>',
      'what a crash does to writes that the disk had acknowledged but not flushed',
      powerLosses,
      base.powerLoss,
    ),
    new Option('--keep-writes', 'keep the data of each write, for crash-states').default(
      base.keepWrites,
    ),
  ];
}
