/**
 * Our writer against sysbench's single-row inserts: same server, same volume, same tunnel, in turns.
 * The writer hashes, chains and journals each row; the target is that this costs at most a tenth.
 */
import { ensureImages } from '../lib/kind/images/ensure.ts';
import { median, type BenchContext, type BenchResult } from './support/bench.ts';
import { startDatabase, type BenchDatabase } from './support/database.ts';
import { writerInserts } from './support/own-writer.ts';
import { sysbenchInserts } from './support/sysbench.ts';
import { kubernetesDefault } from '../lib/core/kubernetes.ts';

const connectionCounts = [1, 8, 32];
const rounds = 5;
const seconds = 5;
/** Of sysbench's rate. */
const target = 0.9;

interface Round {
  readonly sysbench: number;
  readonly writer: number;
}

interface Row extends Round {
  readonly connections: number;
  /** Median over the rounds of the ratio within a round: a busy machine slows both. */
  readonly ratio: number;
  readonly rounds: readonly Round[];
}

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  const images = await ensureImages({ source: 'auto', kubernetes: kubernetesDefault, onProgress });
  await using database = await startDatabase(images.tools);
  const measured = new Map<number, Round[]>(connectionCounts.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [connections, results] of measured) {
      const result = await measure(database, connections, round % 2 === 0);
      results.push(result);
      onProgress(`round ${round + 1}/${rounds}, ${connections} connections: ${describe(result)}`);
    }
  }
  const rows = [...measured].map(([connections, results]) => summarize(connections, results));
  return {
    ok: rows.every(({ ratio }) => ratio >= target),
    lines: rows.map((row) => `${row.connections} connections: ${describe(row)} (target ${target})`),
    data: { target, seconds, image: images.tools, rows },
  };
}

/** One after the other, never at once; who begins changes from round to round. */
async function measure(
  database: BenchDatabase,
  connections: number,
  sysbenchFirst: boolean,
): Promise<Round> {
  const load = { connections, seconds };
  if (sysbenchFirst) {
    const sysbench = await sysbenchInserts(database.socketPath, load);
    return { sysbench, writer: await writerInserts(database, load) };
  }
  const writer = await writerInserts(database, load);
  return { sysbench: await sysbenchInserts(database.socketPath, load), writer };
}

function summarize(connections: number, results: readonly Round[]): Row {
  return {
    connections,
    sysbench: median(results.map(({ sysbench }) => sysbench)),
    writer: median(results.map(({ writer }) => writer)),
    ratio: median(results.map(ratioOf)),
    rounds: results,
  };
}

const ratioOf = ({ sysbench, writer }: Round): number => writer / sysbench;

function describe(result: Round | Row): string {
  const ratio = 'ratio' in result ? result.ratio : ratioOf(result);
  const { sysbench, writer } = result;
  return `sysbench ${sysbench.toFixed(0)}/s, writer ${writer.toFixed(0)}/s, ratio ${ratio.toFixed(3)}`;
}
