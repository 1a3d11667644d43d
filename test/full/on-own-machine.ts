/** Runs on the engine of own-machine.ts, and what must hold of each whatever its machine does. */
import { expect } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startExperiment, type Place, type RunningExperiment } from '../cluster/experiment.ts';
import type { OwnMachine } from './own-machine.ts';

export const cluster = 'own';
export const runFlags = [
  ...['--cluster', 'kind', '--images', 'built', '--cluster-name', cluster],
  ...['--grace', '10s', '--toleration', '10s', '--force-detach-after', '15s', '--warmup', '3s'],
];

export const startOn = (
  { place }: OwnMachine,
  experiment: string,
  flags: readonly string[] = runFlags,
  more: Place = {},
): RunningExperiment =>
  startExperiment(experiment, flags, { ...place, ...more, env: { ...place.env, ...more.env } });

/** Volumes that the cluster's disk has. */
export async function volumesOn(own: OwnMachine): Promise<readonly string[]> {
  const tool = ['node', '/app/lib/storage/csi/disk-tool.ts', 'status'];
  const said = await own.docker('exec', `fd-${cluster}-lab`, ...tool);
  const { volumes } = JSON.parse(said) as { readonly volumes: { readonly volume: string }[] };
  return volumes.map(({ volume }) => volume);
}

/** The next start comes as far as its own cluster, and takes that away again. */
export async function nextStartLeavesNothing(own: OwnMachine): Promise<void> {
  const next = startOn(own, 'network-partition');
  await next.printed('creating the cluster');
  next.signal('SIGINT');
  const { stderr } = await next.done;
  expect(await own.left(), stderr).toEqual({});
}

/** What is kept goes only when it is asked to. */
export async function cleanUp({ place: { enter = [], env = {} } }: OwnMachine): Promise<void> {
  const command = [
    'node_modules/.bin/zx',
    'experiments/clean.mjs',
    '--all',
    '--cluster-name',
    cluster,
  ];
  await $({ quiet: true, env: { ...process.env, ...env } })`${[...enter, ...command]}`;
}
