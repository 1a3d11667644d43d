/** Seed 20: a pod deleted and made again on its node, over and over. */
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const rounds = 6;

export const sameNodeRecreate: Procedure = {
  async act(bench) {
    const volume = await bench.volume('again');
    const make = (name: string): Promise<string> =>
      bench.pod(`again-${name}`, { volume, node: bench.nodes[0], graceS: 10 });
    let pod = await make('first');
    await bench.running(pod);
    for (const how of ['delete', 'force'] as const) {
      for (let round = 1; round <= rounds; round += 1) {
        await bench.delete(pod, how === 'force' ? 0 : 1);
        if (how === 'delete') await bench.podGone(pod);
        pod = await timed(bench, { make, how, round, old: pod });
      }
    }
  },
  read(records) {
    const notes = new Notes(records);
    const all = notes.all('recreated');
    const waits = (how: string): number[] =>
      all
        .flatMap(({ data }) => (data['how'] === how ? [Number(data['afterS'])] : []))
        .toSorted((a, b) => a - b);
    const [plain, forced] = [waits('delete'), waits('force')];
    if (plain.length < rounds || forced.length < rounds) return endedEarly;
    const told = (of: readonly number[]): string =>
      `${of[0]?.toFixed(1)}, median ${of[Math.floor(of.length / 2)]?.toFixed(1)}, at ` +
      `most ${of.at(-1)?.toFixed(1)} s`;
    const slowest = Math.max(...plain, ...forced);
    const overlaps = all.filter(({ data }) => data['overlap'] === true).length;
    return answer(
      slowest < 60,
      `${rounds} deletions: running again after ${told(plain)}. ${rounds} ` +
        `force-deletions: ${told(forced)}; in ${overlaps} of them the new pod ran while ` +
        'the old container still did. None failed to mount.',
      all,
    );
  },
};

interface Round {
  readonly make: (name: string) => Promise<string>;
  readonly how: 'delete' | 'force';
  readonly round: number;
  /** The pod that was deleted. */
  readonly old: string;
}

async function timed(bench: Bench, { make, how, round, old }: Round): Promise<string> {
  const madeMs = performance.now();
  const next = await make(`${how}-${round}`);
  await bench.running(next, 180_000);
  const afterS = Math.round((performance.now() - madeMs) / 100) / 10;
  const overlap = await bench.containersRunning(bench.nodes[0], old);
  bench.note('recreated', { how, round, afterS, overlap }, bench.nodes[0]);
  return next;
}
