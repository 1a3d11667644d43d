/** Flags that are no part of a scenario's question: where it runs, its timers, what it leaves. */
import { Option } from 'commander';
import type { Scenario } from '../../experiment/scenario.ts';
import { gatesText } from '../../kubernetes-versions.ts';
import {
  clusterName,
  featureGate,
  kubernetes,
  nonEmpty,
  registry,
  seedText,
  workerCount,
  workersWords,
} from './flag-values.ts';
import { choice, duration, positive } from './option-kinds.ts';

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
