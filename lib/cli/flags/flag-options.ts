/** The flags that every experiment takes, by what they are about. Defaults are the scenario's. */
import { databaseOptions } from '../../database/flags.ts';
import { Option } from 'commander';
import { diskModes, filesystems, powerLosses, storageLinks } from '../../disk-kinds.ts';
import { controlPlaneFaults } from '../../fault-kinds.ts';
import { remedyEvents, remedyKinds } from '../../remedy-kinds.ts';
import { gatesText } from '../../kubernetes-versions.ts';
import {
  accessModes,
  provisions,
  selfFences,
  workloads,
  type Scenario,
} from '../../experiment/scenario.ts';
import { formatDuration } from '../../durations.ts';
import {
  clusterName,
  durationMs,
  featureGate,
  kubernetes,
  moment,
  nonEmpty,
  positiveMs,
  rate,
  rebootAt,
  registry,
  remedyAt,
  seconds,
  seedText,
  share,
  untaintAt,
  wholeNumber,
  workerCount,
  workersWords,
} from './flag-values.ts';

/** A duration flag whose default is shown as it would be typed. */
const duration = (
  flags: string,
  about: string,
  defaultMs: number,
  parse: (text: string) => number = durationMs,
): Option =>
  new Option(flags, about).argParser(parse).default(defaultMs, formatDuration(defaultMs));

/** The same where 0 would be none. */
const positive = (flags: string, about: string, defaultMs: number): Option =>
  duration(flags, about, defaultMs, positiveMs);

const showMoment = (at: string | number): string =>
  typeof at === 'number' ? formatDuration(at) : at;

const choice = (flags: string, about: string, choices: readonly string[], value: string): Option =>
  new Option(flags, about).choices(choices).default(value);

export const registryOption = (): Option =>
  new Option(
    '--registry <host:port>',
    'pull what this checkout would build from there (scripts/publish-images.ts puts it there)',
  ).argParser(registry);

export function whereOptions(base: Pick<Scenario, 'kubernetes' | 'featureGates'>): Option[] {
  return [
    choice(
      '--cluster <where>',
      'kind measures on real machines, sim predicts by a model; auto: kind where an engine answers',
      ['auto', 'kind', 'sim'],
      'auto',
    ),
    new Option('--cluster-name <name>', 'kind cluster to create or reuse')
      .argParser(clusterName)
      .default('main'),
    choice(
      '--images <source>',
      'published: from registries; built: here from packages and Go modules',
      ['auto', 'published', 'built'],
      'auto',
    ),
    registryOption(),
    new Option('--kubernetes <version>', 'a minor, or a patch of one such as 1.37.2')
      .argParser(kubernetes)
      .default(base.kubernetes),
    new Option('--feature-gate <name=true|false>', 'a gate of all components; may be given again')
      .argParser(featureGate)
      .default(base.featureGates, gatesText(base.featureGates) || 'none'),
    new Option('--workers <n>', workersWords).argParser(workerCount),
    new Option('--keep', 'keep the cluster for the next run'),
  ];
}

function remedyOptions(base: Scenario): Option[] {
  const when = `${remedyEvents.join(', ')}, or so long after the fault (400s)`;
  const untaintWhen = 'end, heal, kept (until the convergence bound), or so long after the remedy';
  return [
    choice('--remedy <kind>', 'what removes the old pod', remedyKinds, base.remedy),
    new Option('--remedy-at <when>', when)
      .argParser(remedyAt)
      .default(base.remedyAt, showMoment(base.remedyAt)),
    new Option('--untaint-at <when>', `when the out-of-service taint goes: ${untaintWhen}`)
      .argParser(untaintAt)
      .default(base.untaintAt, showMoment(base.untaintAt)),
    new Option('--termination-grace <time>', 'terminationGracePeriodSeconds of the pod')
      .argParser(seconds)
      .default(base.terminationGraceS, formatDuration(base.terminationGraceS * 1000)),
    new Option('--pod-finalizer', 'the pod has a finalizer of its own').default(base.podFinalizer),
    choice(
      '--force-detach <how>',
      'off: kube-controller-manager --disable-force-detach-on-timeout',
      ['on', 'off'],
      base.forceDetach,
    ),
  ];
}

export function scenarioOptions(base: Scenario): Option[] {
  return [
    ...remedyOptions(base),
    new Option('--rate <n>', 'acknowledged operations per second and client; max; 0: idle')
      .argParser(rate)
      .default(base.rate),
    new Option('--connections <n>', 'connections per client')
      .argParser(wholeNumber)
      .default(base.connections),
    ...databaseOptions(base),
    choice('--workload <kind>', 'what makes the database’s pod', workloads, base.workload),
    new Option(
      '--move-back',
      'drain the successor, and let the healed victim have it back',
    ).default(base.moveBack),
    new Option('--recreations <n>', 'delete the pod so often, on a node that is whole')
      .argParser(wholeNumber)
      .default(base.recreations),
    duration('--pre-stop <time>', 'a preStop hook sleeps so long', base.preStopS * 1000),
    choice(
      '--self-fence <how>',
      'lease: a sidecar ends the database once its node’s Lease is not renewed',
      selfFences,
      base.selfFence,
    ),
    positive(
      '--self-fence-after <time>',
      'so long after the last renewal that the sidecar saw',
      base.selfFenceAfterMs,
    ),
    new Option('--reboot-at <when>', 'node-reboot: force-detach, or so long after the fault')
      .argParser(rebootAt)
      .default(base.rebootAt, showMoment(base.rebootAt)),
    new Option('--cpu-share <n>', 'cpu-starvation: what is left, of one CPU')
      .argParser(share)
      .default(base.cpuShare),
    positive('--flap-down <time>', 'flapping-partition: off the network so long', base.flapDownMs),
    positive('--flap-up <time>', 'flapping-partition: then on it so long', base.flapUpMs),
    new Option('--server-kills <n>', 'kill the database so often just before the fault')
      .argParser(wholeNumber)
      .default(base.serverKills),
    choice(
      '--also <fault>',
      'a fault of the control plane beside the first one',
      ['none', ...controlPlaneFaults],
      base.also,
    ),
    new Option(
      '--also-at <when>',
      'terminating, pod-gone, half-wait, force-detach, or so long after the fault',
    )
      .argParser(moment)
      .default(base.alsoAt, showMoment(base.alsoAt)),
    positive('--also-for <time>', 'the second fault is healed so long after that', base.alsoForMs),
    new Option('--no-reboot', 'leave a crashed node down until the clean-up'),
  ];
}

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

export function timerOptions(base: Scenario): Option[] {
  return [
    positive(
      '--force-detach-after <time>',
      'wait before a forced detach (other than stock: built images or sim only)',
      base.forceDetachAfterMs,
    ),
    positive('--grace <time>', 'node-monitor-grace-period', base.graceMs),
    duration(
      '--toleration <time>',
      'tolerationSeconds of the unreachable taint',
      base.tolerationMs,
    ),
    duration('--warmup <time>', 'writers run so long before the fault', base.warmupMs),
    duration('--overlap <time>', 'writers run so long after the hand-over', base.overlapMs),
    duration(
      '--patience <time>',
      'a successor that mounted but commits nothing is watched so much longer',
      base.patienceMs,
    ),
    positive('--horizon <time>', 'the watch ends so long after the fault', base.horizonMs),
    positive('--converge <time>', 'bound for commits to come back after the heal', base.convergeMs),
  ];
}

export function outputOptions(): Option[] {
  return [
    new Option(
      '--seed <text>',
      'seed of everything random (default: drawn, printed first)',
    ).argParser(seedText),
    new Option(
      '--out <dir>',
      'folder of the run (default: reports/<time>-<name>-<run id>)',
    ).argParser(nonEmpty),
    new Option('--json', 'verdict.json on stdout, everything else on stderr'),
    new Option('--dry-run', 'say what would run and create nothing'),
  ];
}
