/**
 * `npm run bench -- NAME [--json] [--rows n,n] [--count n] [--live KUBECONFIG]`: runs bench/NAME.ts. Exit
 * code 1 where it misses its target.
 */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeError, exitCode, ForcedetachError, UsageError } from '../lib/core/errors.ts';
import type { Bench, BenchContext } from './support/bench.ts';

const directory = fileURLToPath(new URL('.', import.meta.url));

function benchNames(): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'run.ts')
    .map((file) => file.slice(0, -'.ts'.length));
}

interface Asked {
  readonly name: string;
  readonly json: boolean;
  readonly context: Pick<BenchContext, 'rows' | 'count' | 'live'>;
}

function parse(args: readonly string[]): Asked {
  const names = benchNames().join(', ');
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        rows: { type: 'string' },
        count: { type: 'string' },
        live: { type: 'string' },
      },
    });
    const { json, rows, count, live } = values;
    const [name, ...rest] = positionals;
    if (name !== undefined && rest.length === 0 && benchNames().includes(name)) {
      const context = {
        ...(rows === undefined ? {} : { rows: rows.split(',').map(wholeNumber) }),
        ...(count === undefined ? {} : { count: wholeNumber(count) }),
        ...(live === undefined ? {} : { live: resolve(live) }),
      };
      return { name, json, context };
    }
  } catch (cause) {
    const { message } = cause as Error;
    throw new UsageError('BAD_FLAG', message, { hint: `benchmarks: ${names}` });
  }
  throw new UsageError('NO_SUCH_BENCHMARK', 'give the name of one benchmark', {
    hint: `benchmarks: ${names}`,
    command: 'npm run bench -- writer --json',
  });
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new TypeError(`\`${text}\` is no number of things`);
}

try {
  const { name, json, context } = parse(process.argv.slice(2));
  const { default: bench } = (await import(`./${name}.ts`)) as { readonly default: Bench };
  const result = await bench({
    onProgress: (line) => console.error(line),
    ...context,
  });
  if (json) console.log(JSON.stringify({ name, ok: result.ok, ...result.data }, undefined, 2));
  else for (const line of result.lines) console.log(line);
  process.exitCode = result.ok ? exitCode.expected : exitCode.unexpected;
} catch (error) {
  console.error(describeError(error));
  process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
}
