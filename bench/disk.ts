/**
 * MySQL on a volume behind the array against MySQL on a plain loop device with direct I/O: commits
 * per second of sysbench's single-row inserts, in turns. The array may cost at most three tenths.
 */
import { ensureImages } from '../lib/kind/images/ensure.ts';
import { startBenchArray } from './support/array.ts';
import { type BenchContext, type BenchResult, median } from './support/bench.ts';
import { type BenchDatabase, startDatabase } from './support/database.ts';
import { sysbenchInserts } from './support/sysbench.ts';
import { kubernetesDefault } from '../lib/core/kubernetes.ts';

const connectionCounts = [1, 8];
const rounds = 5;
const seconds = 4;
/** Of the plain loop device's rate, while the array keeps no data. */
const target = 0.7;

/** `keeping`: the array also keeps the bytes of each write. */
const disks = ['plain', 'array', 'keeping'] as const;
type Rates = Readonly<Record<(typeof disks)[number], number>>;

interface Row {
  readonly connections: number;
  /** Medians over the rounds. */
  readonly commitsPerSecond: Rates;
  /** Medians over the rounds of the ratio to `plain` within a round: a busy machine slows all. */
  readonly ratio: number;
  readonly ratioKeepingData: number;
  readonly rounds: readonly Rates[];
}

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  const images = await ensureImages({ source: 'auto', kubernetes: kubernetesDefault, onProgress });
  const rows = await measureAll(images, onProgress);
  return {
    ok: rows.every(({ ratio }) => ratio >= target),
    lines: rows.map((row) => `${row.connections} connections: ${describe(row)} (target ${target})`),
    data: { target, seconds, images: [images.tools, images.array], rows },
  };
}

async function measureAll(
  images: { readonly tools: string; readonly array: string },
  onProgress: BenchContext['onProgress'],
): Promise<Row[]> {
  await using array = await startBenchArray(images);
  await using plain = await startDatabase(images.tools);
  const start = async (keepData: boolean): Promise<BenchDatabase> =>
    startDatabase(images.tools, await array.newDevice({ keepData }));
  await using behind = await start(false);
  await using keeping = await start(true);
  const databases = { plain, array: behind, keeping };
  const measured = new Map<number, Rates[]>(connectionCounts.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [connections, results] of measured) {
      const rates = await measure(databases, connections, round);
      results.push(rates);
      onProgress(
        `round ${round + 1}/${rounds}, ${connections} connections: ${describeRates(rates)}`,
      );
    }
  }
  return [...measured].map(([connections, results]) => summarize(connections, results));
}

/** One after the other, never at once; who begins changes from round to round. */
async function measure(
  databases: Readonly<Record<(typeof disks)[number], BenchDatabase>>,
  connections: number,
  round: number,
): Promise<Rates> {
  const rates = { plain: 0, array: 0, keeping: 0 };
  for (const index of disks.keys()) {
    const disk = disks[(index + round) % disks.length] ?? 'plain';
    rates[disk] = await sysbenchInserts(databases[disk].socketPath, { connections, seconds });
  }
  return rates;
}

function summarize(connections: number, results: readonly Rates[]): Row {
  const of = (disk: keyof Rates): number => median(results.map((rates) => rates[disk]));
  return {
    connections,
    commitsPerSecond: { plain: of('plain'), array: of('array'), keeping: of('keeping') },
    ratio: median(results.map(({ plain, array }) => array / plain)),
    ratioKeepingData: median(results.map(({ plain, keeping }) => keeping / plain)),
    rounds: results,
  };
}

const describe = (row: Row): string =>
  `${describeRates(row.commitsPerSecond)}, ratio ${row.ratio.toFixed(2)}, ` +
  `keeping data ${row.ratioKeepingData.toFixed(2)}`;

const describeRates = ({ plain, array, keeping }: Rates): string =>
  `plain ${plain.toFixed(0)}/s, array ${array.toFixed(0)}/s, keeping data ${keeping.toFixed(0)}/s`;
