/** From a definition and a command line to everything a run needs, before anything is created. */
import { randomBytes } from 'node:crypto';
import { expectationFor } from '../../batch/index.ts';
import {
  askedScenario,
  completeScenario,
  type Scenario,
  settingsUnder,
  type Settings,
  settingsOf,
  type WrittenScenario,
  type WrittenGroup,
  databaseKindNamed,
  isKept,
  fields,
  goesWith,
  combined,
  settingsFrom,
  valuesIn,
  questionOf,
  type FieldName,
} from '../../scenario/index.ts';
import type { VerdictWord } from '../../judge/index.ts';
import { madeBy, typed, UsageError } from '../../core/index.ts';
import { refuseUnmeasurable, type RunWish } from '../library/run-plan.ts';
import { say } from '../command.ts';
import { certifiedDisk } from '../../probe/index.ts';
import type { RunFlags, ParsedFlags } from './flags.ts';
import { folderName } from '../library/run-folder.ts';

/** What an experiment file says: a scenario in the nested form, and what is asked of it. */
export interface ExperimentDefinition extends WrittenScenario {
  /** Kebab-case, the file's name. */
  readonly name: string;
  /** Default: its database's, or its fault's. */
  readonly question?: string;
  readonly fault: WrittenGroup<'fault'>;
  /** Seed of a definition that comes from a file, unless a flag gives another. */
  readonly seed?: string;
  /** Default: by reasoning, or of a race what was counted (docs/reference/verdicts.md). */
  readonly expected?: readonly VerdictWord[];
}

export interface RunRequest extends Omit<RunWish, 'cluster' | 'database' | 'custom'> {
  readonly flags: RunFlags;
}

/** Flags that say where output goes or what stays, and so don't belong to a replay. */
export const notReplayed: ReadonlySet<string> = new Set([
  '--out',
  '--fail-on',
  '--json',
  '--dry-run',
  '--keep',
  '--seed',
  '--cluster',
]);

/** `start`: the command that a replay repeats, and its words. Throws UsageError. */
export function requestOf(
  definition: ExperimentDefinition,
  parsed: ParsedFlags,
  now: Date,
  [command, ...words]: readonly [string, ...string[]] = [definition.name],
): RunRequest {
  const { flags, given } = parsed;
  const { settings, expected, ...own } = underKinds(definition, parsed);
  const about = { ...own, expected: [...(expected ?? ['safe' as const])] };
  const { diskFrom, ...certified } = diskOf(parsed);
  const asked = settingsUnder(settingsUnder(settings, parsed.settings), certified);
  const chosen = askedScenario(asked, { ...about, ...(diskFrom && { diskFrom }) });
  const scenario = expected ? chosen : { ...chosen, ...expectationFor(chosen) };
  if (flags.images === 'published' && flags.cluster !== 'sim') {
    refuseUnmeasurable(scenario, madeBy({ source: 'published', registry: flags.registry }));
  }
  const seed = flags.seed ?? definition.seed ?? randomBytes(8).toString('hex');
  const runId = randomBytes(4).toString('hex');
  const kept = [...given].filter(([flag]) => !notReplayed.has(flag)).flatMap(([, each]) => each);
  return {
    flags,
    scenario,
    seed,
    runId,
    folder: flags.out ?? folderName(scenario.name, runId, now),
    replay: (backend) => typed(command, [...words, ...kept, '--cluster', backend, '--seed', seed]),
  };
}

/** What help shows the defaults of: the experiment with the kinds that flags choose. */
export function helpBaseOf(definition: ExperimentDefinition, parsed: ParsedFlags): Scenario {
  const { settings, name, question } = underKinds(definition, parsed);
  return completeScenario({
    ...settingsUnder(settings, parsed.settings),
    ...{ name, question, expected: ['safe'] },
  });
}

/** What an experiment says, and what it is. */
interface AskedExperiment extends Pick<Scenario, 'name' | 'question'> {
  readonly settings: Settings;
  readonly expected?: readonly VerdictWord[] | undefined;
}

const isKind = (field: FieldName): boolean => ['fault.kind', 'database.kind'].includes(field);

/** With another fault or database than its own it is another experiment: name, question and expectation are that one's. */
function underKinds(
  definition: ExperimentDefinition,
  { settings: asked }: ParsedFlags,
): AskedExperiment {
  const { name, question, expected, seed: _, ...written } = definition;
  const own = settingsOf(written, say);
  const kinds = valuesIn(asked).filter(([field]) => isKind(field));
  // Without what such a database leaves no choice: the experiment's own words are for another one.
  const { database: other } = settingsFrom(kinds);
  const chosen = valuesIn(settingsUnder(own, settingsFrom(kinds))).filter(
    ([field]) => other === undefined || !isKept({ database: other }, field),
  );
  const { fault: { kind: fault = 'none' } = {}, ...rest } = settingsFrom(chosen);
  const settings = combined(settingsFrom(chosen), { fault: { kind: fault } });
  const database = databaseKindNamed(rest.database?.kind);
  const isOwn =
    fault === (own.fault?.kind ?? 'none') && database === databaseKindNamed(own.database?.kind);
  const ofKinds =
    database.question === undefined
      ? { name: fault, question: questionOf(fault) }
      : { name: database.name, question: database.question };
  if (!isOwn) return { settings, ...ofKinds };
  return { settings, name, question: question ?? ofKinds.question, expected };
}

/** What a certificate says, if one is given. Throws UsageError as `certifiedDisk` does. */
function diskOf(parsed: ParsedFlags): Partial<ReturnType<typeof certifiedDisk>> {
  const { flags, settings, given } = parsed;
  const { diskFrom, diskClass: storageClass } = flags;
  const { disk: { mode: disk } = {} } = settings;
  if (diskFrom === undefined) {
    if (storageClass === undefined) return {};
    throw new UsageError('DISK_CONFLICT', '--disk-class needs --disk-from', {
      hint: 'name its certificate with --disk-from FILE, or omit it',
    });
  }
  if (given.has('--cut-after')) {
    throw new UsageError('DISK_CONFLICT', '--cut-after comes from the certificate of --disk-from', {
      hint: 'omit one of the two; without a certificate: --disk ack-early --cut-after 5s',
    });
  }
  const typedDisk = given.has('--disk') ? { disk } : {};
  const certified = certifiedDisk(diskFrom, { storageClass, ...typedDisk });
  // Settings of the experiment itself give way; what was typed is a wish.
  const idle = valuesIn(settings).filter(([name]) => !goesWith(name, certified));
  if (idle.length === 0) return certified;
  const names = idle.map(([name]) => fields[name].flags?.split(' ')[0] ?? name);
  throw new UsageError(
    'DISK_CONFLICT',
    `${names.join(' and ')} does not apply to disk ${certified.disk?.mode}, which the certificate shows`,
    { hint: 'omit it, or name the kind of disk with --disk instead of --disk-from' },
  );
}
