/**
 * Asks all classes of a stranger's cluster (scripts/stranger.ts): trials with raw volumes and with file
 * systems, then drivers that lie or hang, and why the rest is refused. What it gets goes to a folder, and
 * what lies there already is not asked again.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  faultyClasses,
  idleClasses,
  strangerClasses,
} from '../../test/support/stranger-objects.ts';
import { describeError } from '../../lib/core/errors.ts';
import { type UserClients, userClients } from '../../lib/core/kubernetes-client.ts';
import { gatherFacts } from '../../lib/probe/facts.ts';
import type { Certificate, PredictionReport } from '../../lib/probe/certificate.ts';
import { predictionFor } from '../../lib/probe/dry-run.ts';
import type { VolumeMode } from '../../lib/probe/plan.ts';
import { runTrials } from '../../lib/probe/trials.ts';

export interface LiveRequest {
  readonly kubeconfig: string;
  readonly folder: string;
  /** Of a kind, for each class and each kind of volume. */
  readonly trials: number;
  readonly onProgress: (line: string) => void;
}

/** Of a driver that lies: each of its volumes may be stuck for good. */
const faultyTrials = 2;
const horizonMs = 100_000;
/** So many classes side by side. */
const lanes = 3;

export async function liveBlind(request: LiveRequest): Promise<void> {
  const clients = await userClients(undefined, request.kubeconfig);
  mkdirSync(request.folder, { recursive: true });
  const image = await imageOf(clients);
  const asked = { nodes: undefined, size: '64Mi', horizonMs, image };
  const refused = ['halite', ...Object.keys(idleClasses)];
  for (const storageClass of refused) {
    await once(request, `${storageClass}.refused`, () =>
      predictionFor(clients, { ...asked, storageClass, trials: 1, volumeMode: 'Block' }),
    );
  }
  const runs = (
    classes: readonly string[],
    trials: number,
    volumeModes: readonly VolumeMode[],
  ): (() => Promise<void>)[] =>
    volumeModes.flatMap((volumeMode) =>
      classes.map((storageClass) => () => {
        const name = `${storageClass}.${volumeMode}`;
        const say = (line: string): void => request.onProgress(`${name}: ${line}`);
        const signal = new AbortController().signal;
        const options = { ...asked, storageClass, trials, volumeMode, say, signal };
        return once(request, name, () => runTrials(clients, options));
      }),
    );
  const honest = Object.keys(strangerClasses).filter((name) => name !== 'halite');
  await inLanes([
    ...runs(honest, request.trials, ['Block', 'Filesystem']),
    // Last: what is stuck there is in the others' way.
    ...runs(Object.keys(faultyClasses), faultyTrials, ['Block']),
  ]);
}

/** The cluster has it: the driver's own, with Node in it. */
async function imageOf(clients: UserClients): Promise<string> {
  const [{ driverPods }] = await gatherFacts(clients, 'amber');
  const images = driverPods.flatMap(({ containers }) => containers.map(({ image }) => image));
  return images.find((image) => image.includes('/driver:')) ?? '';
}

async function once(
  { folder, onProgress }: LiveRequest,
  name: string,
  ask: () => Promise<Certificate | PredictionReport>,
): Promise<void> {
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) return;
  try {
    writeFileSync(file, JSON.stringify(await ask()));
    onProgress(`${name}: done`);
  } catch (error) {
    onProgress(`${name}: ${describeError(error)}`);
  }
}

async function inLanes(runs: readonly (() => Promise<void>)[]): Promise<void> {
  const left = [...runs];
  const lane = async (): Promise<void> => {
    for (let run = left.shift(); run !== undefined; run = left.shift()) await run();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Of a folder that `liveBlind` filled. */
export function liveRecords(folder: string): {
  readonly certificates: Certificate[];
  readonly answers: PredictionReport[];
} {
  const read = (isWanted: (name: string) => boolean): unknown[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && isWanted(name))
      .toSorted()
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown);
  const isRefused = (name: string): boolean => name.endsWith('.refused.json');
  return {
    certificates: read((name) => !isRefused(name)) as Certificate[],
    answers: read(isRefused) as PredictionReport[],
  };
}
