/** Clean-up takes what is provably ours, and leaves what only looks so: with cheap containers, no cluster. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { ensureCluster } from '../../lib/kind/cluster.ts';
import { encodeLabels, type ClusterLabels } from '../../lib/kind/ownership/registry.ts';
import { leaseAt } from '../../lib/kind/ownership/lease.ts';
import { releaseLoops } from '../../lib/kind/ownership/labs.ts';
import { currentOwner } from '../../lib/core/owner.ts';
import { reap } from '../../lib/kind/ownership/reap.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import type { ImageSet } from '../../lib/kind/images/image-plan.ts';
import { mysql } from '../../lib/mysql/database.ts';

const cluster = 'cleaned';
const name = `fd-${cluster}`;
const quiet = $({ quiet: true });
/** The last lease: runs take the first that is free. */
const lease = leaseAt(31);
const home = mkdtempSync(join(tmpdir(), 'fd-home-'));
let images: ImageSet;
let tools = '';

beforeAll(async () => {
  const request = { source: 'auto', kubernetes: '1.37', onProgress: () => undefined } as const;
  images = await ensureImages(request);
  ({ tools } = images);
}, 40 * 60_000);
beforeEach(() => vi.stubEnv('XDG_STATE_HOME', home));
afterAll(async () => {
  await quiet`docker rm --force ${name}-control-plane ${name}-worker ${name}-lab ${name}-theirs`.nothrow();
  await quiet`docker volume rm --force ${name}`.nothrow();
  await quiet`docker network rm ${name}`.nothrow();
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

/** A process that has ended, as the owner of what it left. */
function deadOwner(): ClusterLabels['owner'] {
  const { pid } = spawnSync('true');
  return { ...currentOwner(), pid, startTicks: '1' };
}

const labels = (more: Partial<ClusterLabels> = {}): string[] =>
  encodeLabels({
    ...{ cluster, runId: 'dead', configHash: 'c', index: lease.index, owner: deadOwner() },
    ...{ keep: false, stateDir: '', token: '', tools, ...more },
  });

const exists = async (kind: string, what: string): Promise<boolean> =>
  (await quiet`docker ${kind} inspect ${what}`.nothrow()).exitCode === 0;

/** A container that does nothing; `flags` of `docker run`. */
const idle = (container: string, ...flags: string[]): Promise<unknown> =>
  quiet`docker run --detach --name ${container} ${flags} --entrypoint sleep ${tools} infinity`;

const kindLabel = ['--label', `io.x-k8s.kind.cluster=${name}`];

test('a user’s own kind cluster with our name stays when a leftover volume has the label', async () => {
  await quiet`docker volume create ${labels()} ${name}`;
  await idle(`${name}-control-plane`, ...kindLabel);
  const { removed, resisted } = await reap({ only: cluster });
  expect(removed).toEqual([cluster]);
  expect(resisted.map(({ why }) => why)).toEqual([
    `the container ${name}-control-plane is not provably ours`,
  ]);
  expect(await exists('volume', name)).toBe(false);
  expect(await exists('container', `${name}-control-plane`)).toBe(true);
  await quiet`docker rm --force ${name}-control-plane`;
});

test('what dead runs left goes: a node on our network, one that is cut off from it, the lab', async () => {
  await quiet`docker network create --subnet ${lease.subnet} ${labels()} ${name}`;
  await quiet`docker volume create ${labels()} ${name}`;
  const { stdout } = await quiet`docker volume inspect --format {{.Mountpoint}} ${name}`;
  await idle(`${name}-control-plane`, ...kindLabel, '--network', name);
  const shared = ['--volume', `${stdout.trim()}:/var/lib/forcedetach`];
  await idle(`${name}-worker`, ...kindLabel, '--network', 'none', ...shared);
  await idle(`${name}-lab`, ...labels());
  await idle(`${name}-theirs`, ...labels());
  const { removed, resisted } = await reap({ only: cluster });
  expect(removed).toEqual([cluster]);
  // It has the labels and a name that we never give.
  expect(resisted.map(({ why }) => why)).toEqual([
    `the container ${name}-theirs is not provably ours`,
  ]);
  expect(await exists('container', `${name}-theirs`)).toBe(true);
  for (const node of ['control-plane', 'worker', 'lab']) {
    expect(await exists('container', `${name}-${node}`)).toBe(false);
  }
  expect(await exists('network', name)).toBe(false);
  await quiet`docker rm --force ${name}-theirs`;
});

test('a directory that a forged label names stays, and so does the cluster of another host', async () => {
  const precious = join(home, 'forcedetach-precious');
  mkdirSync(precious);
  writeFileSync(join(precious, 'thesis'), '');
  const elsewhere = { ...currentOwner(), host: 'another' };
  await quiet`docker volume create ${labels({ owner: elsewhere, stateDir: precious, token: 'x' })} ${name}`;
  const { left } = await reap({ only: cluster });
  expect(left[0]?.why).toContain('cannot be seen from here');
  const start = ensureCluster({
    database: mysql,
    name: cluster,
    images,
    kind: 'kind',
    runId: 'run',
  });
  await expect(start).rejects.toMatchObject({ code: 'CLUSTER_BUSY' });
  expect(await exists('volume', name)).toBe(true);
  const { removed, resisted } = await reap({ all: true, only: cluster });
  expect(removed).toEqual([cluster]);
  expect(resisted[0]?.why).toContain('is not the cluster’s directory');
  expect(existsSync(join(precious, 'thesis'))).toBe(true);
});

test('loop devices: a user’s deleted file on the same disk stays, and those with our files go', async () => {
  const first = 5000;
  await quiet`docker volume create ${name}`;
  const privileged = [
    '--rm',
    '--privileged',
    '--network',
    'none',
    '--volume',
    `${name}:/var/lib/forcedetach`,
  ];
  // Of 5001 the path is a user's: another mount of the same disk.
  const script = `
    mount -t devtmpfs devtmpfs /dev; dir=/var/lib/forcedetach; mkdir -p /mnt/theirs $dir/users
    mount --bind $dir/users /mnt/theirs
    for number in 5000 5001 5002; do
      perl -e 'open F, "+<", "/dev/loop-control"; ioctl F, 0x4C80, $ARGV[0] + 0 or die "$!"' $number
    done
    truncate -s 1M $dir/ours.img $dir/kept.img /mnt/theirs/file.img
    losetup /dev/loop5000 $dir/ours.img; losetup /dev/loop5001 /mnt/theirs/file.img
    losetup /dev/loop5002 $dir/kept.img; rm $dir/ours.img /mnt/theirs/file.img`;
  try {
    await quiet`docker run ${privileged} --entrypoint sh ${tools} -c ${script}`;
    const loops = { first, count: 3 };
    const left = await releaseLoops({ loops, holdsLease: true, volume: name, tools });
    expect(left).toEqual(['/dev/loop5001 is not ours: /file.img (deleted)']);
    expect(existsSync('/sys/block/loop5001/loop')).toBe(true);
    expect(existsSync('/sys/block/loop5000')).toBe(false);
    expect(existsSync('/sys/block/loop5002')).toBe(false);
  } finally {
    const undo =
      'mount -t devtmpfs devtmpfs /dev; for n in 5000 5001 5002; do losetup -d /dev/loop$n; perl -e \'open F, "+<", "/dev/loop-control"; ioctl F, 0x4C81, $ARGV[0] + 0\' $n; done; true';
    await quiet`docker run ${privileged} --entrypoint sh ${tools} -c ${undo}`;
  }
});
