/** Claims on what kubelet does on its node, and says of it. */
import { z } from 'zod';
import { diskTool } from '../../../lib/kind/index.ts';
import type { NodeShell } from '../../../lib/run/index.ts';
import { driverName } from '../../../lib/storage/index.ts';
import type { Claim } from '../claim.ts';
import type { Bench } from './bench.ts';
import { endedEarly, defineNote, reading } from './notes.ts';

const shown = {
  volume: z.string(),
  attached: z.string().nullable(),
  devicePath: z.string().nullable(),
  inUse: z.boolean(),
};
const before = defineNote('before', shown);
const running = defineNote('running', shown);
const after = defineNote('after', shown);

export const statusFields: Claim = {
  number: 19,
  title: 'Node status fields',
  statement:
    'volumesAttached and volumesInUse name `kubernetes.io/csi/<driver>^<handle>`; ' +
    'devicePath is `csi-<hash>`.',
  expected: 'The names hold; devicePath is empty for CSI now.',
  procedure: {
    async act(bench) {
      const node = bench.nodes[0];
      const look = async (when: typeof before): Promise<void> =>
        bench.note(when, await fieldsOf(bench, node, bench.named('status')), node);
      await look(before);
      const pod = await bench.podOnVolume('status', node);
      await look(running);
      await bench.remove(pod);
      await bench.detached(pod);
      await look(after);
    },
    read: reading({ before, running, after }, ({ before, running, after }) => {
      const name = `kubernetes.io/csi/${driverName}^${running.volume}`;
      const none = [before, after].every(({ attached, inUse }) => attached === null && !inUse);
      const isNamed = running.attached === name && running.inUse;
      return {
        asExpected: none && isNamed && running.devicePath === '',
        said:
          `While the pod runs volumesAttached has ${running.attached} with devicePath ` +
          `“${running.devicePath}”, volumesInUse the same name: ${running.inUse}; before and after ` +
          `both are empty of it: ${none}.`,
      };
    }),
  },
};

async function fieldsOf(
  bench: Bench,
  node: string,
  volume: string,
): Promise<z.output<typeof before.schema>> {
  const { status } = await bench.testbed.clients.core.readNode({ name: node });
  const attached = status?.volumesAttached?.find(({ name }) => name.endsWith(`^${volume}`));
  const inUse = status?.volumesInUse?.some((name) => name === attached?.name) ?? false;
  const { name = null, devicePath = null } = attached ?? {};
  return { volume, attached: name, devicePath, inUse };
}

const rounds = 6;
const recreated = defineNote('recreated', {
  how: z.enum(['delete', 'force']),
  round: z.number(),
  afterS: z.number(),
  overlap: z.boolean(),
});

export const sameNodeRecreate: Claim = {
  number: 20,
  title: 'Recreated on the same node',
  statement:
    'Now and then a pod that is deleted and made again on its node fails to mount its volume.',
  expected: 'No cause is named. Measured: how long the new pod takes, and whether one ever fails.',
  procedure: {
    async act(bench) {
      const node = bench.nodes[0];
      const shell = bench.testbed.shell(node);
      const volume = await bench.volume('again');
      const start = async (name: string): Promise<string> => {
        const pod = await bench.pod(`again-${name}`, { volume, node, graceS: 10 });
        return bench.running(pod, 180_000);
      };
      let pod = await start('first');
      for (const how of ['delete', 'force'] as const) {
        for (let round = 1; round <= rounds; round += 1) {
          const old = pod;
          await (how === 'force' ? bench.delete(old, 0) : bench.remove(old, 1));
          const afterS = await bench.seconds(async () => {
            pod = await start(`${how}-${round}`);
          });
          bench.note(recreated, { how, round, afterS, overlap: await stillRuns(shell, old) }, node);
        }
      }
    },
    read: reading({}, (_, notes) => {
      const all = notes.all(recreated);
      const waits = (asked: string): number[] =>
        all.flatMap(({ how, afterS }) => (how === asked ? [afterS] : [])).toSorted((a, b) => a - b);
      const [plain, forced] = [waits('delete'), waits('force')];
      if (plain.length < rounds || forced.length < rounds) return endedEarly;
      const told = (of: readonly number[]): string =>
        `${of[0]?.toFixed(1)}, median ${of[Math.floor(of.length / 2)]?.toFixed(1)}, at ` +
        `most ${of.at(-1)?.toFixed(1)} s`;
      return {
        asExpected: Math.max(...plain, ...forced) < 60,
        said:
          `${rounds} deletions: running again after ${told(plain)}. ${rounds} ` +
          `force-deletions: ${told(forced)}; in ${all.filter(({ overlap }) => overlap).length} of ` +
          'them the new pod ran while the old container still did. None failed to mount.',
      };
    }),
  },
};

/** Whether the node still runs a container of that pod, whatever the API says. */
async function stillRuns(node: NodeShell, pod: string): Promise<boolean> {
  const script = 'for each in /proc/[0-9]*/environ; do tr "\\0" "\\n" < "$each"; done 2>/dev/null';
  const { stdout } = await node.run(['sh', '-c', script]);
  return stdout.split('\n').includes(`HOSTNAME=${pod}`);
}

const started = defineNote('started', { name: z.string(), afterS: z.number(), stuck: z.string() });

export const hangingMount: Claim = {
  number: 29,
  title: 'The mount loop never blocks',
  statement: 'Kubelet mounts beside its sync loop, which must never block.',
  expected: 'Holds: while one NodeStage hangs, other pods start on the node.',
  procedure: {
    async act(bench) {
      const { lab } = bench.testbed.cluster;
      const node = bench.nodes[0];
      const [stuck, free] = [await bench.volume('stuck'), await bench.volume('free')];
      await diskTool(lab, 'answer-calls', { volume: stuck, calls: 'stage=never' });
      const waiting = await bench.pod('stuck', { volume: stuck, node });
      await bench.pause(4_000);
      const timed = async (name: string, pod: () => Promise<string>): Promise<void> => {
        const afterS = await bench.seconds(async () => bench.running(await pod()));
        bench.note(started, { name, afterS, stuck: await bench.phase('pod', waiting) }, node);
      };
      await timed('a pod with another volume', () => bench.pod('free', { volume: free, node }));
      await timed('a pod without a volume', () => bench.pod('bare', { node }));
      await diskTool(lab, 'let-go');
      await timed('the stuck one, let go', async () => waiting);
    },
    read: reading({}, (_, notes) => {
      const all = notes.all(started);
      const [volume, bare, last] = all;
      if (!volume || !bare || !last) return endedEarly;
      const told = all.map(({ name, afterS }) => `${name} after ${afterS} s`);
      return {
        asExpected: volume.stuck === 'Pending' && bare.stuck === 'Pending',
        said: `While one NodeStage hung, these ran: ${told.join('; ')}.`,
        records: notes.calls('stage'),
      };
    }),
  },
};
