/**
 * A cluster's storage network: the array, and an initiator for each worker, in containers on it and on nothing else.
 * A node is not on it: Docker would give the node that address at its next start.
 */
import { InfrastructureError, waitFor } from '../../core/index.ts';
import type { Proof } from '../../run/index.ts';
import type { Ends } from '../../scenario/index.ts';
import { sharedDir } from '../create/kind-config.ts';
import * as engine from '../engine/commands.ts';
import { commandError, inspect, pasteable, run, tryRun } from '../engine/run.ts';
import { auditLoopOf, type Lease } from '../ownership/lease.ts';
import { engineName, initiatorName, storageName } from '../ownership/registry.ts';
import { arrayProgram, weighing } from './containers.ts';
import type { StorageNetwork } from './disk.ts';

interface StorageOptions {
  readonly cluster: string;
  readonly ends: Ends;
  readonly image: string;
  readonly lease: Lease;
  readonly workers: readonly string[];
  /** `--label k=v …` of the cluster. */
  readonly labels: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Starts all initiators anew, since what a dead run cut or hung must not stay. */
export async function startStorageNetwork(options: StorageOptions): Promise<StorageNetwork> {
  const { cluster, lease, workers } = options;
  const network = storageName(cluster);
  const addressOf = (node: string): string =>
    lease.storage.gateway.replace(/1$/, String(10 + workers.indexOf(node)));
  // One after the other: they test themselves with the same device.
  const common = { ...options, network, source: engineName(cluster) };
  const loop = auditLoopOf(lease.loops, 1);
  for (const node of workers) {
    const container = initiatorName(node);
    await startInitiator({ ...common, container, node, address: addressOf(node), loop });
  }
  const isOn = async (node: string): Promise<boolean> => {
    const [found] = (await inspect('container', [initiatorName(node)])) as Placed[];
    return found?.NetworkSettings.Networks[network] !== undefined;
  };
  const move = async (node: string, to: 'on' | 'off', argv: readonly string[]): Promise<Proof> => {
    const isThere = async (): Promise<boolean> => (await isOn(node)) === (to === 'on');
    if (!(await isThere())) {
      const result = await tryRun(argv);
      // Several volumes of a node ask side by side: the first one does it.
      if (!(await isThere())) throw commandError(argv, result);
    }
    const evidence = `${initiatorName(node)} is ${to} the storage network ${network}`;
    return { verified: true, evidence };
  };
  return {
    cut: (node) => move(node, 'off', engine.disconnect(network, initiatorName(node))),
    join: (node) => move(node, 'on', engine.connect(network, initiatorName(node), addressOf(node))),
  };
}

interface Placed {
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, unknown>> };
}

export interface InitiatorOptions
  extends Pick<StorageOptions, 'ends' | 'image' | 'labels' | 'signal'> {
  readonly container: string;
  readonly node: string;
  readonly network: string;
  readonly address: string;
  /** Volume of the engine, or folder: with the array's program, and the socket that the array asks. */
  readonly source: string;
  /** Loop device of its self-test. */
  readonly loop: number;
}

/** A container of that name is replaced. Rejects with `INITIATOR_UNFIT` where it loses what it is given. */
export async function startInitiator(options: InitiatorOptions): Promise<void> {
  const { container, node, network, address, ends, image, source, labels, signal } = options;
  await tryRun(engine.remove(container));
  const place = ['--name', container, '--hostname', container, '--network', network];
  const sysctls = ends.sysctls.flatMap((each) => ['--sysctl', each]);
  const rights = ['--ip', address, ...sysctls, '--privileged', ...weighing('array')];
  const volume = ['--volume', `${source}:${sharedDir}`];
  const asked = ['--root', sharedDir, '--node', node, '--loop', String(options.loop)];
  const command = [arrayProgram(sharedDir), 'initiate', ...asked];
  await run(engine.start([...place, ...rights, ...volume, ...labels], image, ...command), {
    signal,
  });
  const logs = engine.logs(container);
  const wait = { what: `the initiator of ${node} tested itself`, timeoutMs: 60_000, signal };
  const { why } = await waitFor({ ...wait, command: pasteable(logs) }, async () => {
    const [line, unfit] = /^listening|^unfit: (.*)/m.exec(await run(logs)) ?? [];
    return line === undefined ? 'it says nothing yet' : { why: unfit };
  });
  if (why === undefined) return;
  throw new InfrastructureError(
    'INITIATOR_UNFIT',
    `the initiator of ${node} cannot be trusted: ${why}`,
    {
      hint: 'build its image anew from a newer Debian',
      command: pasteable(logs),
    },
  );
}
