/** `research/two-kernels.mjs`: the cases on both hosts, what they came to, a table. */
import { basename, join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import {
  commandLine,
  parseArguments,
  runCommand,
  say,
  tell,
  nonEmpty,
  numberWithin,
  type RunFlags as CommonFlags,
  imagesOption,
  onInterrupt,
  folderName,
  makeFolder,
  makeNewFolder,
} from '../../lib/cli/index.ts';
import { describeError, exitCode, kubernetesDefault } from '../../lib/core/index.ts';
import { ensureImages } from '../../lib/kind/index.ts';
import { linesOf, noteLines } from '../../lib/batch/index.ts';
import { caseNames, type CaseName } from './cases.ts';
import { DiskLab } from './disk-lab.ts';
import { toolsGuest } from './guest-files.ts';
import {
  comparedFilesystems,
  hostKinds,
  type ComparedFilesystem,
  type Host,
  type HostKind,
} from './host.ts';
import { loopHost } from './loop-host.ts';
import { resultSchema, type Result } from './result.ts';
import { runCase, type CaseRun } from './run-case.ts';
import { comparison } from './table.ts';
import { vmHost } from './vm-host.ts';

interface Flags extends Pick<CommonFlags, 'images' | 'dryRun'> {
  readonly cases: readonly CaseName[];
  readonly hosts: readonly HostKind[];
  readonly filesystems: readonly ComparedFilesystem[];
  readonly repeats: number;
  readonly out: string;
  readonly note: boolean;
  readonly table: boolean;
}

interface PlannedCase extends Pick<CaseRun, 'name' | 'filesystem' | 'repeat'> {
  readonly kind: HostKind;
}

/** A server then starts in about the time it takes in an emulated machine, on the same processor. */
const slowCpus = 0.1;

/** Runs it and sets the exit code: 0 when every run ended with a result. Never throws. */
export const twoKernels = (): Promise<void> =>
  runCommand(async (args) => {
    const flags = parseArguments(twoKernelsCommand(), args).opts<Flags>();
    const plan = planOf(flags);
    if (flags.dryRun) {
      for (const { name, kind, filesystem } of plan) say(`${name} on ${kind}, ${filesystem}`);
      return exitCode.expected;
    }
    const results = flags.table ? linesOf(resultSchema) : await runAll(plan, flags);
    tell(comparison(results));
    const isWhole = flags.table || results.length === plan.length;
    return isWhole ? exitCode.expected : exitCode.infrastructure;
  });

export const twoKernelsCommand = (): Command =>
  commandLine('npx zx research/two-kernels.mjs', [
    ['print the table of measurements', '--table'],
    [
      'two cases in virtual machines',
      '--cases crash,turns --hosts vms --filesystems xfs --repeats 3',
    ],
    ['show what would run', '--dry-run'],
  ])
    .description('The same disk cases on loop devices of one kernel and in virtual machines.')
    .option('--cases <names>', `some of ${caseNames.join()}`, listOf(caseNames), [...caseNames])
    .option('--hosts <kinds>', `some of ${hostKinds.join()}`, listOf(hostKinds), [...hostKinds])
    .option('--filesystems <types>', comparedFilesystems.join(), listOf(comparedFilesystems), [
      comparedFilesystems[0],
    ])
    .option('--repeats <n>', 'runs of each case on each host', numberWithin(1, 1000), 1)
    .addOption(imagesOption())
    .option('--out <folder>', 'folder for the histories', nonEmpty, 'reports/two-kernels-runs')
    .option('--note', 'add each result to data/measurements.jsonl', false)
    .option('--table', 'run nothing; print the table of measurements', false)
    .option('--dry-run', 'show what would run; create nothing', false);

/** Hosts alternate, so that a busy hour of the machine is shared by both. */
const planOf = ({ repeats, cases, filesystems: types, hosts }: Flags): PlannedCase[] =>
  Array.from({ length: repeats }, (_, index) => index + 1).flatMap((repeat) =>
    types.flatMap((filesystem) =>
      cases.flatMap((name) => hosts.map((kind) => ({ name, kind, filesystem, repeat }))),
    ),
  );

/** Results of all but those that failed. One that does is told and the others go on; Ctrl-C ends them all. */
async function runAll(plan: readonly PlannedCase[], flags: Flags): Promise<Result[]> {
  makeFolder(flags.out);
  let step = 'the set-up';
  using interrupt = onInterrupt(say, () => step);
  const { signal } = interrupt;
  const source = flags.images;
  const images = await ensureImages({ source, kubernetes: kubernetesDefault, onProgress: say });
  const { tools } = images;
  const guests = flags.hosts.includes('vms') ? await toolsGuest(tools, say) : undefined;
  await using lab = await DiskLab.open({ tools, arrayImage: images.array });
  const hosts: Readonly<Record<HostKind, Host | undefined>> = {
    loops: loopHost({ image: tools, ...lab.lease }),
    'slow-loops': loopHost({ image: tools, ...lab.lease, cpus: slowCpus }),
    vms: guests && vmHost(guests),
  };
  const results: Result[] = [];
  for (const { kind, ...planned } of plan) {
    const host = hosts[kind];
    if (host === undefined) continue;
    const what = `${planned.name} on ${kind}, ${planned.filesystem}, run ${planned.repeat}`;
    const onProgress = (now: string): void => {
      step = `${what}: ${now}`;
      say(step);
    };
    try {
      const seed = `two-kernels/${what}`;
      const id = `${kind}-${planned.filesystem}-${planned.repeat}`;
      const folder = join(flags.out, basename(folderName(planned.name, id)));
      makeNewFolder(folder);
      const result = await runCase({ ...planned, host, seed, lab, folder, signal, onProgress });
      results.push(result);
      if (flags.note) noteLines([result]);
      say(`${what}: ${outcomeOf(result)}`);
    } catch (error) {
      signal.throwIfAborted();
      say(`${what} FAILED: ${describeError(error)}`);
    }
  }
  return results;
}

const outcomeOf = ({ outcome: { images, durationMs } }: Result): string =>
  `${images.map(({ image, safety }) => `${image} image ${safety}`).join(', ')} (${Math.round(durationMs / 1000)} s)`;

const listOf =
  <T extends string>(known: readonly T[]) =>
  (text: string): T[] =>
    text.split(',').map((word) => {
      const found = known.find((each) => each === word);
      if (found === undefined) throw new InvalidArgumentError(`one of ${known.join(', ')}`);
      return found;
    });
