/** `research/kernel-initiators.mjs`: trials of a kernel's initiators in guests, each a line beside those in user space. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { linesOf, noteLines } from '../../lib/batch/index.ts';
import {
  commandLine,
  imagesOption,
  nonEmpty,
  numberWithin,
  onInterrupt,
  parseArguments,
  type RunFlags as CommonFlags,
  runCommand,
  say,
} from '../../lib/cli/index.ts';
import { describeError, exitCode, kubernetesDefault } from '../../lib/core/index.ts';
import { ensureImages } from '../../lib/kind/index.ts';
import { cells, type Planned } from '../real-storage/cells.ts';
import { type Evidence, outcomeFrom } from '../real-storage/outcome.ts';
import { trialSchema, type TrialLine } from '../real-storage/result.ts';

import type { GuestFiles } from '../two-kernels/guest-files.ts';
import { initiatorGuest } from './guests.ts';
import { KernelLab, type LabImages } from './lab.ts';
import {
  type AskedCell,
  askedCells,
  planOf,
  type ProtocolName,
  protocolNames,
  protocols,
  trialId,
} from './plan.ts';
import type { Server } from './protocols/protocol.ts';
import { everyMs, performTrial } from './trial.ts';

/** Beside the protocol in the table of real-storage. */
const kernelName = 'Linux 6.1';

interface Flags extends Pick<CommonFlags, 'images' | 'dryRun'> {
  readonly protocols: readonly ProtocolName[];
  readonly cells: readonly AskedCell[];
  readonly revocations?: readonly string[];
  readonly repeats: number;
  readonly out: string;
  readonly note: boolean;
}

/** Runs it and sets the exit code: 0 where every trial ended with a result. Never throws. */
export const kernelInitiators = (): Promise<void> =>
  runCommand(async (args) => {
    const flags = parseArguments(kernelInitiatorsCommand(), args).opts<Flags>();
    const known = [...linesOf(trialSchema), ...trialsIn(flags.out)];
    const done = new Set(known.map(({ id }) => id));
    const plans = flags.protocols.map((protocol) => ({
      protocol,
      plan: planOf({ ...flags, protocol, done }),
    }));
    if (flags.dryRun) {
      for (const { plan } of plans) for (const planned of plan) say(trialId(planned));
      return exitCode.expected;
    }
    mkdirSync(flags.out, { recursive: true });
    using interrupt = onInterrupt(say, () => 'the trials');
    await using lab = await KernelLab.open(await labImages(flags.images, say));
    const failures = await Promise.all(
      plans.map(({ protocol, plan }) =>
        runPlan({ lab, protocol, plan, flags, signal: interrupt.signal }),
      ),
    );
    if (flags.note) noteLines(trialsIn(flags.out));
    return failures.flat().length === 0 ? exitCode.expected : exitCode.infrastructure;
  });

export async function labImages(
  source: CommonFlags['images'],
  onProgress: (line: string) => void,
): Promise<LabImages> {
  const beside = ['initiator', 'ceph'] as const;
  const request = { source, kubernetes: kubernetesDefault, beside, onProgress };
  const { initiator = '', ceph = '' } = await ensureImages(request);
  return { servers: initiator, ceph };
}

export const kernelInitiatorsCommand = (): Command =>
  commandLine('npx zx research/kernel-initiators.mjs', [
    ['one trial of each', '--repeats 1 --note'],
    ['one protocol', '--protocols nvme --cells base,living'],
    ['show what would run', '--dry-run'],
  ])
    .description(
      'The questions of real-storage to the initiators of a Linux kernel, in emulated guests.',
    )
    .option(
      '--protocols <names>',
      `some of ${protocolNames.join()}`,
      listOf(protocolNames),
      protocolNames,
    )
    .option(
      '--cells <names>',
      `some of ${askedCells.join()}`,
      listOf(askedCells),
      askedCells.slice(0, 3),
    )
    .option('--revocations <names>', 'default: all of each protocol, and none', (text) =>
      text.split(','),
    )
    .option('--repeats <n>', 'trials of each', numberWithin(1, 1000), 3)
    .addOption(imagesOption())
    .option(
      '--out <folder>',
      'folder for trials and journals; those in it are not run again',
      nonEmpty,
      'reports/kernel-initiators-runs',
    )
    .option('--note', 'add the trials of the folder to data/measurements.jsonl', false)
    .option('--dry-run', 'show what would run; create nothing', false);

const trialsFile = (out: string): string => join(out, 'trials.jsonl');

const trialsIn = (out: string): TrialLine[] =>
  existsSync(trialsFile(out))
    ? readFileSync(trialsFile(out), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => trialSchema.parse(JSON.parse(line)))
    : [];

interface RunPlan {
  readonly lab: KernelLab;
  readonly protocol: ProtocolName;
  readonly plan: readonly Planned[];
  readonly flags: Pick<Flags, 'out'>;
  readonly signal: AbortSignal;
}

/** Resolves to what failed; the others go on. */
async function runPlan({ lab, protocol, plan, flags, signal }: RunPlan): Promise<string[]> {
  if (plan.length === 0) return [];
  const failures: string[] = [];
  const files = await initiatorGuest(protocols[protocol].modules, say);
  let server: Server;
  try {
    server = await protocols[protocol].serve(lab);
  } catch (error) {
    say(`${protocol} FAILED: ${describeError(error)}`);
    return [protocol];
  }
  for (const planned of plan) {
    signal.throwIfAborted();
    const id = trialId(planned);
    try {
      const { line, evidence } = await oneTrial({ lab, protocol, server, files, planned });
      writeFileSync(
        join(flags.out, `${id.replaceAll(/[^\w.-]+/g, '-')}.json`),
        JSON.stringify({ line, evidence }),
      );
      appendFileSync(trialsFile(flags.out), `${JSON.stringify(line)}\n`);
      say(`${id}: ${JSON.stringify(line.outcome)}`);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(id);
      say(`${id} FAILED: ${describeError(error)}`);
    }
  }
  return failures;
}

export async function oneTrial({
  lab,
  protocol,
  server,
  files,
  planned,
}: {
  readonly lab: KernelLab;
  readonly protocol: ProtocolName;
  readonly server: Server;
  readonly files: GuestFiles;
  readonly planned: Planned;
}): Promise<{ readonly line: TrialLine; readonly evidence: Evidence }> {
  const id = trialId(planned);
  await using guests = new AsyncDisposableStack();
  const [a, b] = (await Promise.all(
    ['a', 'b'].map(async (name) => guests.use(await lab.guest(name, files))),
  )) as [Awaited<ReturnType<KernelLab['guest']>>, Awaited<ReturnType<KernelLab['guest']>>];
  const {
    cell,
    row: { revocation },
    repeat,
  } = planned;
  const onProgress = (line: string): void => say(`${id}: ${line}`);
  const asked = { cell: cells[cell], how: revocation, server, a, b, onProgress };
  const evidence = await performTrial(asked);
  // What is on the medium now and then is no log of writes.
  const outcome = { ...outcomeFrom(evidence), evidence: 'reader' } as const;
  const { initiator, server: serverName } = protocols[protocol];
  const line: TrialLine = {
    ...{ kind: 'storage-trial', id, seed: null, basis: null, outcome },
    scenario: { transport: protocol, revocation, cell, repeat, initiator: kernelName, everyMs },
    versions: { kernel: a.kernel, initiator, server: serverName },
    source: 'npx zx research/kernel-initiators.mjs',
    date: new Date().toISOString(),
  };
  return { line, evidence };
}

function listOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) =>
    text.split(',').map((word) => {
      const found = known.find((each) => each === word);
      if (found === undefined) throw new InvalidArgumentError(`one of ${known.join(', ')}`);
      return found;
    });
}
