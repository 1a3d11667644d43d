/** From a definition and a command line to everything a run needs, before anything is created. */
import { databaseChoiceOf } from '../../database/fields.ts';
import { randomBytes } from 'node:crypto';
import { expectationFor } from '../../expectations/races.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../../experiment/scenario.ts';
import type { VerdictWord } from '../../experiment/verdict/verdict.ts';
import { madeBy } from '../../images/image-set.ts';
import { refuseUnmeasurable } from '../../library/refusals.ts';
import { paste } from './arguments.ts';
import { UsageError } from '../../errors.ts';
import { certifiedDisk } from '../../probe/published/disk-of.ts';
import { parseFlags, type Flags, type ParsedFlags } from './flags.ts';
import { folderName } from '../../library/run-folder.ts';

/** What an experiment file says: its question, its fault, and which verdicts are no surprise. */
export interface ExperimentDefinition {
  /** Kebab-case, the file's name. */
  readonly name: string;
  readonly question: string;
  readonly fault: Scenario['fault'];
  /** Where this experiment's defaults differ from the scenario's. */
  readonly defaults?: Partial<ScenarioInput>;
  /** Of a definition that comes from a file: its seed, unless a flag gives another. */
  readonly seed?: string;
  /** Words that start it, and that a replay repeats. Default: `experiments/<name>.mjs`. */
  readonly script?: readonly string[];
  /** Default: by reasoning, or of a race what was counted (docs/reference/expectations.md). */
  readonly expected?: readonly VerdictWord[];
}

export interface RunRequest {
  readonly flags: Flags;
  readonly scenario: Scenario;
  readonly seed: string;
  readonly runId: string;
  /** The run's folder; not made yet. */
  readonly folder: string;
  /** Paste-ready; `backend` is the one in fact taken. */
  readonly replay: (backend: 'kind' | 'sim') => string;
}

/** Flags that say where output goes or what stays, and so don't belong to a replay. */
export const notReplayed: ReadonlySet<string> = new Set([
  '--out',
  '--json',
  '--dry-run',
  '--keep',
  '--seed',
  '--cluster',
]);

/** Throws UsageError; undefined when only help was asked for. */
export function requestOf(
  definition: ExperimentDefinition,
  args: readonly string[],
  now: Date,
): RunRequest | undefined {
  const { name, question, fault, defaults } = definition;
  const base = parseScenario({ expected: ['safe'], ...defaults, name, question, fault });
  const script = definition.script ?? [`experiments/${name}.mjs`];
  const parsed = parseFlags(base, args, script);
  if (parsed === undefined) return undefined;
  const { flags, given } = parsed;
  const scenario = scenarioOf(definition, { ...base, ...diskOf(parsed) }, flags);
  if (flags.images === 'published' && flags.cluster !== 'sim') {
    refuseUnmeasurable(scenario, madeBy({ source: 'published', registry: flags.registry }));
  }
  const seed = flags.seed ?? definition.seed ?? randomBytes(8).toString('hex');
  const runId = randomBytes(4).toString('hex');
  const kept = [...given].filter(([flag]) => !notReplayed.has(flag)).flatMap(([, words]) => words);
  const command = ['npx', 'zx', ...script, ...kept];
  return {
    flags,
    scenario,
    seed,
    runId,
    folder: flags.out ?? folderName(name, runId, now),
    replay: (backend) => paste([...command, '--cluster', backend, '--seed', seed]),
  };
}

/** As flags say, or a certificate. Throws UsageError as `certifiedDisk` does. */
function diskOf({
  flags,
  given,
}: ParsedFlags): Pick<ScenarioInput, 'disk' | 'cutAfterMs' | 'diskFrom'> {
  const { disk, cutAfter: cutAfterMs, diskFrom, diskClass: storageClass } = flags;
  if (diskFrom === undefined) {
    if (storageClass === undefined) return { disk, cutAfterMs };
    throw new UsageError('DISK_CONFLICT', '--disk-class says nothing without --disk-from');
  }
  if (given.has('--cut-after')) {
    throw new UsageError('DISK_CONFLICT', '--cut-after is what --disk-from says itself', {
      hint: 'leave one of the two out; without a certificate: --disk ack-early --cut-after 5s',
    });
  }
  return certifiedDisk(diskFrom, { storageClass, ...(given.has('--disk') ? { disk } : {}) });
}

function scenarioOf(definition: ExperimentDefinition, base: ScenarioInput, flags: Flags): Scenario {
  const chosen = parseScenario({
    ...base,
    reboot: flags.reboot && base.reboot,
    rebootAt: flags.rebootAt,
    cpuShare: flags.cpuShare,
    flapDownMs: flags.flapDown,
    flapUpMs: flags.flapUp,
    serverKills: flags.serverKills,
    also: flags.also,
    alsoAt: flags.alsoAt,
    alsoForMs: flags.alsoFor,
    remedy: flags.remedy,
    remedyAt: flags.remedyAt,
    untaintAt: flags.untaintAt,
    terminationGraceS: flags.terminationGrace,
    podFinalizer: flags.podFinalizer,
    forceDetach: flags.forceDetach,
    provision: flags.provision,
    watcherCheck: flags.watcherCheck,
    attachWhileBusy: flags.attachWhileBusy,
    fileLocks: flags.fileLocks,
    link: flags.link,
    filesystem: flags.fs,
    accessMode: flags.accessMode,
    flushes: flags.flushes,
    powerLoss: flags.powerLoss,
    keepWrites: flags.keepWrites,
    rate: flags.rate,
    connections: flags.connections,
    ...databaseChoiceOf(flags),
    workload: flags.workload,
    moveBack: flags.moveBack,
    recreations: flags.recreations,
    preStopS: flags.preStop / 1000,
    selfFence: flags.selfFence,
    selfFenceAfterMs: flags.selfFenceAfter,
    kubernetes: flags.kubernetes,
    featureGates: flags.featureGate,
    graceMs: flags.grace,
    tolerationMs: flags.toleration,
    forceDetachAfterMs: flags.forceDetachAfter,
    warmupMs: flags.warmup,
    overlapMs: flags.overlap,
    patienceMs: flags.patience,
    horizonMs: flags.horizon,
    convergeMs: flags.converge,
  });
  const { expected } = definition;
  return { ...chosen, ...(expected ? { expected: [...expected] } : expectationFor(chosen)) };
}
