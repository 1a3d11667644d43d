/** From a definition and a command line to everything a run needs, before anything is created. */
import { randomBytes } from 'node:crypto';
import { expectationFor } from '../../expectations/races.ts';
import { askedScenario, completeScenario, type Scenario } from '../../experiment/scenario.ts';
import { settingsUnder, type Settings } from '../../experiment/settings.ts';
import { settingsOf } from '../../experiment/written.ts';
import type { WrittenScenario, WrittenGroup } from '../../experiment/written-form.ts';
import type { VerdictWord } from '../../experiment/verdict/verdict.ts';
import { faultKinds, questionOf, type FaultKind } from '../../faults/kinds/index.ts';
import { madeBy } from '../../images/image-set.ts';
import { refuseUnmeasurable } from '../../library/refusals.ts';
import { say } from '../command.ts';
import { paste } from './typed.ts';
import { UsageError } from '../../errors.ts';
import { certifiedDisk } from '../../probe/published/disk-of.ts';
import { parseFlags, type RunFlags, type ParsedFlags } from './flags.ts';
import { folderName } from '../../library/run-folder.ts';

/** What an experiment file says: a scenario in the nested form, and what is asked of it. */
export interface ExperimentDefinition extends WrittenScenario {
  /** Kebab-case, the file's name. */
  readonly name: string;
  /** Default: its fault's. */
  readonly question?: string;
  readonly fault: WrittenGroup<'fault'>;
  /** Seed of a definition that comes from a file, unless a flag gives another. */
  readonly seed?: string;
  /** Words that start it, and that a replay repeats. Default: `experiments/<name>.mjs`. */
  readonly script?: readonly string[];
  /** Default: by reasoning, or of a race what was counted (docs/reference/expectations.md). */
  readonly expected?: readonly VerdictWord[];
}

export interface RunRequest {
  readonly flags: RunFlags;
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
  const { name, seed: ownSeed, script = [`experiments/${name}.mjs`], ...rest } = definition;
  const { settings, expected, ...own } = underFault({ ...rest, name }, faultIn(args));
  const about = { ...own, expected: [...(expected ?? ['safe' as const])] };
  const parsed = parseFlags(completeScenario({ ...about, ...settings }), args, script);
  if (parsed === undefined) return undefined;
  const { flags, given } = parsed;
  const { diskFrom, ...certified } = diskOf(parsed);
  const asked = settingsUnder(settingsUnder(settings, parsed.settings), certified);
  const chosen = askedScenario(asked, { ...about, ...(diskFrom && { diskFrom }) });
  const scenario = expected ? chosen : { ...chosen, ...expectationFor(chosen) };
  if (flags.images === 'published' && flags.cluster !== 'sim') {
    refuseUnmeasurable(scenario, madeBy({ source: 'published', registry: flags.registry }));
  }
  const seed = flags.seed ?? ownSeed ?? randomBytes(8).toString('hex');
  const runId = randomBytes(4).toString('hex');
  const kept = [...given].filter(([flag]) => !notReplayed.has(flag)).flatMap(([, words]) => words);
  const command = ['npx', 'zx', ...script, ...kept];
  return {
    flags,
    scenario,
    seed,
    runId,
    folder: flags.out ?? folderName(scenario.name, runId, now),
    replay: (backend) => paste([...command, '--cluster', backend, '--seed', seed]),
  };
}

/** The fault is known before the flags are: it says which ones there are. */
function faultIn(args: readonly string[]): FaultKind | undefined {
  const words = args.flatMap((word, index) => {
    if (word === '--fault') return args[index + 1] ?? [];
    return word.startsWith('--fault=') ? word.slice('--fault='.length) : [];
  });
  return faultKinds.find((kind) => kind === words.at(-1));
}

/** What an experiment says, and what it is. */
interface Asked extends Pick<Scenario, 'name' | 'question'> {
  readonly settings: Settings;
  readonly expected?: readonly VerdictWord[] | undefined;
}

/** With another fault than its own it is another experiment: name, question and expectation are that one's. */
function underFault(
  { name, question, expected, ...written }: ExperimentDefinition,
  asked: FaultKind | undefined,
): Asked {
  const settings = settingsOf(written, say);
  const { fault = 'none' } = settings;
  if (asked === undefined || asked === fault) {
    return {
      settings: { ...settings, fault },
      name,
      question: question ?? questionOf(fault),
      expected,
    };
  }
  return {
    settings: settingsUnder(settings, { fault: asked }),
    ...{ name: asked, question: questionOf(asked) },
  };
}

/** What a certificate says, if one is given. Throws UsageError as `certifiedDisk` does. */
function diskOf(parsed: ParsedFlags): Partial<ReturnType<typeof certifiedDisk>> {
  const { flags, settings, given } = parsed;
  const { diskFrom, diskClass: storageClass } = flags;
  const { disk } = settings;
  if (diskFrom === undefined) {
    if (storageClass === undefined) return {};
    throw new UsageError('DISK_CONFLICT', '--disk-class says nothing without --disk-from');
  }
  if (given.has('--cut-after')) {
    throw new UsageError('DISK_CONFLICT', '--cut-after is what --disk-from says itself', {
      hint: 'leave one of the two out; without a certificate: --disk ack-early --cut-after 5s',
    });
  }
  return certifiedDisk(diskFrom, { storageClass, ...(given.has('--disk') ? { disk } : {}) });
}
