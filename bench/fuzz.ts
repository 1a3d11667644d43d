/**
 * Makes one thing strange at a time, in flags, files and folders of every command, and counts what
 * ended otherwise than it must. `--rows n`: so many cases. FORCEDETACH_SEED: the seed.
 */
import { randomBytes } from 'node:crypto';
import { fuzz, type Fault, type FuzzResult } from '../test/fuzz/suite.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

const defaultCases = 1240;

export default async function bench({ onProgress, rows }: BenchContext): Promise<BenchResult> {
  const seed = process.env['FORCEDETACH_SEED'] ?? randomBytes(4).toString('hex');
  onProgress(`seed ${seed}`);
  const [cases = defaultCases] = rows ?? [];
  const result = await fuzz({ seed, cases, spawnEvery: 60, onProgress });
  const { failures, fields, spread, spawned, seconds } = result;
  const counts = {
    cases,
    stackTraces: countOf(result, 'stackTrace'),
    hangs: countOf(result, 'hang'),
    wrongCodes: countOf(result, 'wrongCode'),
    wrongForms: countOf(result, 'wrongForm'),
    obeyed: countOf(result, 'obeyed'),
    polluted: countOf(result, 'polluted'),
  };
  return {
    ok: failures.length === 0,
    lines: [
      JSON.stringify({ seed, ...counts }),
      `${fields.met} of ${fields.of} fields, ${spawned} in processes of their own, ${seconds} s`,
      ...spreadLines(spread),
      ...failures.map((failure) => JSON.stringify(failure)),
    ],
    data: { seed, ...counts, fields, spawned, seconds, spread, failures },
  };
}

const countOf = ({ failures }: FuzzResult, fault: Fault): number =>
  failures.filter((failure) => failure.fault === fault).length;

function spreadLines(spread: FuzzResult['spread']): string[] {
  return Object.entries(spread).map(([command, surfaces]) => {
    const each = Object.entries(surfaces).map(([name, count]) => `${name} ${count}`);
    return `${command}: ${each.join(', ')}`;
  });
}
