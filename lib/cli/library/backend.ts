/** Which backend a run takes, with which images, and how it is opened. */
import { existsSync } from 'node:fs';
import type { BackendChoice } from './run-plan.ts';
import {
  InfrastructureError,
  isCheckout,
  needCheckout,
  UsageError,
  type ImageSource,
  madeBy,
} from '../../core/index.ts';
import type { PoolChoice, SourceChoice } from '../../kind/index.ts';
import { kindCapabilities, type Backend } from '../../run/index.ts';
import {
  type DatabaseKind,
  endsOf,
  groupSize,
  networked,
  type Scenario,
  stockTimers,
} from '../../scenario/index.ts';
import { simCapabilities } from '../../sim/index.ts';

export const initiatorWords = ['user-space', 'kernel'] as const;

/** What may be asked for: ours by name, or whichever is there. */
export const clusterWords = ['auto', 'kind', 'sim'] as const;

/** What a choice is made by. */
export interface BackendWish {
  readonly cluster: (typeof clusterWords)[number];
  readonly images: 'auto' | ImageSource;
  /** Holds what this checkout would build. Default: official images, or built here. */
  readonly registry?: string | undefined;
  /** Default: `user-space`. */
  readonly initiator?: (typeof initiatorWords)[number];
  readonly kubernetes: string;
  readonly forceDetachAfterMs: number;
  /** Default: one server on one volume. */
  readonly database?: DatabaseKind | undefined;
  /** Default: as many as the database needs. */
  readonly workers?: number | undefined;
}

/** What a scenario has to say of it. */
export const wishOf = ({
  kubernetes,
  timers,
  database,
}: Scenario): Pick<BackendWish, 'kubernetes' | 'forceDetachAfterMs' | 'database'> => ({
  kubernetes: kubernetes.version,
  forceDetachAfterMs: timers.forceDetachAfter,
  database: database.kind,
});

/** How the chosen one is opened. */
export interface BackendSize {
  readonly clusterName: string;
  /** Default: 2 on kind, one for each member of a group, 3 on the model. */
  readonly workers?: number | undefined;
  readonly keep: boolean;
}

/** What choosing asks of the world. */
export interface Probes {
  /** Whether an engine answers, and what it said. */
  readonly engine: () => Promise<{ readonly answers: boolean; readonly detail: string }>;
  /** Where images come from when both ways are open. */
  readonly images: (asked: 'auto' | ImageSource, kubernetes: string) => Promise<SourceChoice>;
  /** Whether the kernel that runs has the module, loaded or built in. */
  readonly module: (name: string) => boolean;
}

/** Imported only where a real cluster may be taken: its room and the Kubernetes client cost a second. */
const kindRoom = () => import('../../kind/index.ts');

const probes: Probes = {
  async engine() {
    const { $, version } = await kindRoom();
    const quiet = $({ nothrow: true, quiet: true, timeout: '10s' });
    const { exitCode, stdout, stderr } = await quiet`${version()}`;
    const answers = exitCode === 0;
    const detail = (answers ? stdout : stderr).trim().split('\n').at(-1) ?? '';
    return { answers, detail };
  },
  async images(asked, kubernetes) {
    const { askRegistry, chooseSource } = await kindRoom();
    const unasked = { answers: false, why: 'not requested' };
    return chooseSource(asked, asked === 'auto' ? await askRegistry(kubernetes) : unasked);
  },
  module: (name) => existsSync(`/sys/module/${name}`),
};

/**
 * Throws InfrastructureError where kind was asked for: `ENGINE_MISSING` where no engine answers,
 * `NEEDS_CHECKOUT` in the npm package; UsageError `TOO_FEW_WORKERS` where members would share a node, and
 * `INITIATOR_KERNEL`.
 */
export async function chooseBackend(
  wish: BackendWish,
  ask: Probes = probes,
): Promise<BackendChoice> {
  refuseSharedNodes(wish);
  if (wish.initiator === 'kernel') throw noKernelInitiator(ask);
  if (wish.cluster === 'sim') return theModel('requested');
  if (!isCheckout && wish.cluster === 'auto') return theModel('the npm package only predicts');
  needCheckout('a real cluster');
  const { answers, detail } = await ask.engine();
  if (answers) {
    const why = wish.cluster === 'kind' ? 'requested' : 'a Docker engine answers';
    const images = await chooseImages(wish, ask);
    const capabilities = kindCapabilities(madeBy(images));
    return {
      backend: 'kind',
      isModel: false,
      why: `${why} (Docker ${detail})`,
      images,
      capabilities,
    };
  }
  if (wish.cluster === 'auto') return theModel('no Docker engine answers');
  const { byHand } = await kindRoom();
  throw new InfrastructureError('ENGINE_MISSING', `no Docker engine answers: ${detail}`, {
    hint: 'start the engine, or predict with the built-in model: --cluster sim',
    command: byHand.look,
  });
}

function refuseSharedNodes({ database, workers = groupSize }: BackendWish): void {
  if (database !== 'group-replication' || workers >= groupSize) return;
  throw new UsageError('TOO_FEW_WORKERS', `a group of ${groupSize} needs a node for each member`, {
    hint: 'two members on one node would fail together',
    again: ['--workers', String(groupSize)],
  });
}

/** Nothing of it is built: no machine of this project has had one of the modules, so nothing could be tried. */
function noKernelInitiator({ module }: Probes): UsageError {
  const modules = networked.flatMap((transport) => endsOf(transport)?.module ?? []);
  const missing = modules.filter((each) => !module(each));
  const lacks = missing.length === 0 ? 'has all of them' : `lacks ${missing.join(', ')}`;
  return new UsageError(
    'INITIATOR_KERNEL',
    `no run uses a kernel’s initiator (${modules.join(', ')}; this kernel ${lacks})`,
    {
      hint: 'omit --initiator: qemu-storage-daemon reaches the disk; kernels were asked in docs/internals/kernel-initiators.md',
      ...(missing.length === 0 ? {} : { command: `modprobe --all ${missing.join(' ')}` }),
    },
  );
}

export const theModel = (why: string): BackendChoice => ({
  ...{ backend: 'sim', isModel: true, why, capabilities: simCapabilities },
});

/** Official images can't change the forced-detach wait, so `auto` does not ask for them then. */
async function chooseImages(
  { images, registry, kubernetes, forceDetachAfterMs }: BackendWish,
  ask: Probes,
): Promise<SourceChoice> {
  if (registry !== undefined && images === 'built') {
    throw new UsageError('REGISTRY_NOT_ASKED', '--images built does not use --registry', {
      hint: 'omit one of the two',
      again: ['--images', 'published'],
    });
  }
  if (registry !== undefined) {
    return { source: 'published', registry, reason: `images: published, from ${registry}` };
  }
  if (images === 'auto' && forceDetachAfterMs !== stockTimers.forceDetachAfter) {
    const reason = 'images: built here (only these can change the forced-detach wait)';
    return { source: 'built', reason };
  }
  return ask.images(images, kubernetes);
}

export async function openBackend(
  { images: choice }: BackendChoice,
  { clusterName, workers, keep }: BackendSize,
  pooled?: PoolChoice,
): Promise<Backend> {
  // The model is the only one of ours that is made of none.
  if (choice === undefined) {
    const { simBackend } = await import('../../sim/index.ts');
    return simBackend(workers === undefined ? {} : { nodes: workers });
  }
  const { kindBackend } = await kindRoom();
  const { source: images, registry } = choice;
  // How many a cluster has by itself depends on its database.
  return kindBackend({ clusterName, images, registry, workers, keep }, pooled);
}

/** Another start may be looking at one just now, and has its lock meanwhile. */
const removalPatienceMs = 60_000;

/** Removes a cluster that runs kept for each other, at their end. `say`: why it stays, and what removes it. */
export async function removeCluster(only: string, say: (line: string) => void): Promise<void> {
  const { reap } = await kindRoom();
  const { left, resisted } = await reap({ all: true, only, patienceMs: removalPatienceMs });
  for (const { why } of [...left, ...resisted]) {
    const clean = `npx forcedetach clean --all --cluster-name ${only}`;
    say(`could not remove the cluster ${only}: ${why}; remove it with: ${clean}`);
  }
}
