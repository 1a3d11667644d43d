/**
 * The exploration of crash states as a program inside a container of the tools image: results as
 * JSON lines on stdout (wire.ts). It ends, and cleans up, when its stdin ends.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import {
  explore,
  planStates,
  type PlannedState,
  keptWrites,
  readRunFacts,
  importDatabase,
  realOf,
} from '../../run/index.ts';
import { ensureKernelDevices, removeLoop } from '../../storage/index.ts';
import {
  describeError,
  exitCode,
  ForcedetachError,
  InterruptError,
  UsageError,
} from '../../core/index.ts';
import { containerRecovery, RollingImage } from './container-recovery.ts';
import type { StatesMessage, StatesRequest } from './run-states.ts';

/** Every so many states one is looked at thoroughly: it takes twice the time. */
const thoroughEvery = 10;

const send = (message: StatesMessage): void =>
  void process.stdout.write(`${JSON.stringify(message)}\n`);

async function main(request: StatesRequest, signal: AbortSignal): Promise<void> {
  const { folder, seed, only } = request;
  const database = await importDatabase(request.database);
  const recoverImage = await realOf(database).recovery?.();
  if (recoverImage === undefined) {
    throw new UsageError('NO_RECOVERY', `${database.title} cannot be recovered from a crash state`);
  }
  const { run, journal, acked, firstAckMs } = readRunFacts(folder);
  const { log, dataPath: packed } = keptWrites(folder);
  const { states, policies } = request;
  const plan = planStates(log, { states, policies, seed, firstAckMs });
  send({ type: 'planned', states: plan.states.length, moments: plan.moments, acked });
  const chosen = only === undefined ? plan.states : [chosenState(plan.states, only.number)];
  await ensureKernelDevices();
  const dataPath = join(request.scratch, 'writes.data');
  await pipeline(createReadStream(packed), createZstdDecompress(), createWriteStream(dataPath), {
    signal,
  });
  const path = join(request.images, 'flushed.img');
  using rolling = new RollingImage({ log, dataPath, path, seed, signal });
  const recovery = containerRecovery({
    rolling,
    recoverImage,
    loops: request.loops,
    directory: request.images,
    runSeed: run.seed,
    keepAt: only?.keepAt,
    signal,
  });
  await using stack = new AsyncDisposableStack();
  for (const loop of request.loops) stack.defer(() => removeLoop(loop));
  await explore({
    database,
    states: chosen,
    recovery,
    journal,
    runSeed: run.seed,
    isThorough: ({ number }) => only !== undefined || number % thoroughEvery === 0,
    onState: (result) => send({ type: 'state', result }),
  });
  send({ type: 'done' });
}

function chosenState(states: readonly PlannedState[], number: number): PlannedState {
  const state = states.find((each) => each.number === number);
  if (state !== undefined) return state;
  throw new UsageError('NO_SUCH_STATE', `there is no state ${number} among ${states.length}`);
}

const aborter = new AbortController();
const abort = (why: string) => (): void =>
  aborter.abort(new InterruptError('INTERRUPTED', `the exploration was ended: ${why}`));
process.on('SIGINT', abort('SIGINT'));
process.on('SIGTERM', abort('SIGTERM'));
process.stdout.on('error', abort('nobody reads it'));
process.stdin.on('end', abort('stdin ended')).resume();
process.stdin.unref();

try {
  await main(JSON.parse(process.argv[2] ?? '') as StatesRequest, aborter.signal);
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = exitCode.infrastructure;
  if (error instanceof ForcedetachError) {
    const { code, message, hint } = error;
    const evidence = error.exitCode === exitCode.inconclusive;
    send({ type: 'failed', evidence, code, message, ...(hint === undefined ? {} : { hint }) });
  }
}
