/** Starts the tool in a container of its own, without any cluster, and hands on its results. */
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { projectRoot, EvidenceError, InfrastructureError, type Lock } from '../../core/index.ts';
import type { StateResult, CrashStatePlan, PlanOptions, DefinedIn } from '../../run/index.ts';
import { runOnce } from '../engine/commands.ts';
import { openStream } from '../engine/run.ts';
import { lockCluster } from '../ownership/lease.ts';

interface RunStatesOptions
  extends Pick<StatesRequest, 'database' | 'states' | 'policies' | 'seed'> {
  readonly folder: string;
  readonly image: string;
  /** States at a time. Default: one a processor, at most 8. */
  readonly workers?: number | undefined;
  /** Only this state, with its image kept in the run's folder. Default all. */
  readonly only?: { readonly number: number; readonly keepAs: string } | undefined;
  readonly onPlanned: (planned: PlannedMessage) => void;
  readonly onState: (result: StateResult) => void;
  readonly signal: AbortSignal;
}

/** Where the container sees this project, the run, and its own directories. */
const places = { app: '/app', run: '/run-folder', images: '/images', scratch: '/scratch' };

const maxWorkers = 8;
/** Above the loop devices of all leases of clusters (lease.ts), and of the tests. */
const firstLoop = 6144;
const shares = 32;

/** Resolves after the last state. Rejects with what ended it before. */
export async function runStates(options: RunStatesOptions): Promise<void> {
  const { signal, onPlanned, onState } = options;
  signal.throwIfAborted();
  const share = await takeShare();
  try {
    const { promise, resolve: finish, reject } = Promise.withResolvers<void>();
    const onLine = (line: string): void => {
      const message = JSON.parse(line) as StatesMessage;
      if (message.type === 'planned') onPlanned(message);
      else if (message.type === 'state') onState(message.result);
      else if (message.type === 'done') finish();
      else reject(failure(message));
    };
    await using stream = await openStream(commandFor(options, share.firstLoop), onLine);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    stream.closed.then(() => reject(new EvidenceError('STATES_ENDED', 'it was ended')), reject);
    await promise.finally(() => signal.removeEventListener('abort', abort));
  } finally {
    await share.lock.release();
  }
}

/** Loop devices are the machine's, so explorations side by side share out their numbers. */
async function takeShare(): Promise<{ readonly firstLoop: number; readonly lock: Lock }> {
  for (let share = 0; share < shares; share += 1) {
    try {
      const lock = await lockCluster(`crash-states-${share}`, 'crash-states');
      return { firstLoop: firstLoop + share * maxWorkers, lock };
    } catch (error) {
      if (!(error instanceof InfrastructureError)) throw error;
    }
  }
  throw new InfrastructureError('NO_LOOPS', `${shares} explorations are already running`, {
    hint: 'wait until one of them ends',
    again: [],
  });
}

function commandFor(options: RunStatesOptions, firstNumber: number): string[] {
  const { folder, image, database, states, policies, seed, only } = options;
  const { workers = Math.min(availableParallelism(), maxWorkers) } = options;
  const request: StatesRequest = {
    folder: places.run,
    database,
    states,
    policies,
    seed,
    loops: Array.from({ length: only === undefined ? workers : 1 }, (_, n) => firstNumber + n),
    images: places.images,
    scratch: places.scratch,
    ...(only === undefined
      ? {}
      : { only: { number: only.number, keepAt: join(places.run, basename(only.keepAs)) } }),
  };
  const mounts = [
    `${projectRoot}:${places.app}:ro`,
    `${resolve(folder)}:${places.run}${only === undefined ? ':ro' : ''}`,
    // An anonymous volume goes with its container.
    places.scratch,
  ];
  const flags = [
    ...['--interactive', '--init', '--privileged', '--network', 'none'],
    ...['--label', 'forcedetach.crash-states=true', '--tmpfs', places.images],
    ...mounts.flatMap((mount) => ['--volume', mount]),
  ];
  const tool = `${places.app}/lib/kind/crash-states/states-tool.ts`;
  return runOnce(flags, image, 'node', tool, JSON.stringify(request));
}

function failure(message: Extract<StatesMessage, { type: 'failed' }>): Error {
  const { evidence, code, message: what, hint } = message;
  const Failure = evidence ? EvidenceError : InfrastructureError;
  return new Failure(code, what, hint === undefined ? {} : { hint });
}

/** The tool's one argument, as JSON. */
export interface StatesRequest extends Omit<PlanOptions, 'firstAckMs'> {
  readonly database: DefinedIn;
  /** The run's folder, as the container sees it. */
  readonly folder: string;
  /** Numbers of loop devices that nobody else uses: one a worker. */
  readonly loops: readonly number[];
  /** Directory of the images; in memory, since nothing there has to last. */
  readonly images: string;
  readonly scratch: string;
  /** Only the state of this number, thoroughly, with its image kept there. Default all. */
  readonly only?: { readonly number: number; readonly keepAt: string };
}

interface PlannedMessage extends Pick<CrashStatePlan, 'moments'> {
  readonly type: 'planned';
  readonly states: number;
  readonly acked: number;
}

export type StatesMessage =
  | PlannedMessage
  | { readonly type: 'state'; readonly result: StateResult }
  | { readonly type: 'done' }
  | {
      readonly type: 'failed';
      readonly evidence: boolean;
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
    };
