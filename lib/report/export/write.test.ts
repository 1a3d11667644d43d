/** A real run, exported, read back by parsers that know nothing of us. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { opName } from '../../judge/checkers/reconcile.ts';
import { assembleVerdict } from '../../judge/verdict/assemble.ts';
import { accountCount, initialBalance } from '../../history/workload.ts';
import { openHistory } from '../../history/reader.ts';
import { parseEdn, type Edn } from '../../../test/support/edn.ts';
import { exportHistory } from '../export.ts';
import { mysql } from '../../mysql/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-export-'));
afterAll(() => rmSync(folder, { recursive: true }));
cpSync('reports/samples/node-crash-trx-commit-2/history', join(folder, 'history'), {
  recursive: true,
});
const history = openHistory(folder);
exportHistory(folder, history, { database: mysql });
const read = (name: string): string => readFileSync(join(folder, 'export', name), 'utf8');

const opSchema = z.object({
  index: z.number(),
  time: z.number(),
  type: z.enum(['invoke', 'ok', 'fail', 'info']),
  process: z.number(),
  f: z.enum(['txn', 'transfer', 'read']),
  value: z.unknown(),
});
type Op = z.output<typeof opSchema>;
const opsIn = (name: string): Op[] => z.array(opSchema).parse(JSON.parse(read(name)));

/** As JSON has it: keywords are strings, maps are objects. */
function plain(value: Edn): unknown {
  if (typeof value === 'string') return value.replace(/^:/, '');
  if (value instanceof Map) {
    return Object.fromEntries(
      [...(value as ReadonlyMap<Edn, Edn>)].map(([key, each]) => [plain(key), plain(each)]),
    );
  }
  return Array.isArray(value) ? value.map((each) => plain(each as Edn)) : value;
}

test.each(['ledger', 'bank'])('%s: EDN and JSON say the same', (name) => {
  const lines = read(`${name}.edn`).trimEnd().split('\n');
  const fromEdn = lines.map((line) => plain(parseEdn(line)));
  expect(fromEdn.length).toBeGreaterThan(100);
  expect(fromEdn).toEqual(opsIn(`${name}.json`));
});

test.each(['ledger', 'bank'])(
  '%s: each process does one thing at a time, in time order',
  (name) => {
    const busy = new Set<number>();
    const crashed = new Set<number>();
    let lastTime = 0;
    for (const [index, { index: number, time, type, process }] of opsIn(`${name}.json`).entries()) {
      expect(number).toBe(index);
      expect(time).toBeGreaterThanOrEqual(lastTime);
      lastTime = time;
      expect(crashed.has(process)).toBe(false);
      expect(busy.has(process)).toBe(type !== 'invoke');
      if (type === 'invoke') busy.add(process);
      else busy.delete(process);
      if (type === 'info') crashed.add(process);
    }
    expect(busy.size).toBe(0);
  },
);

const txn = z.array(z.tuple([z.enum(['append', 'r']), z.string(), z.unknown()]));

test('the last read of the ledger lacks exactly the commits that the verdict calls lost', () => {
  const ops = opsIn('ledger.json').filter(({ type }) => type === 'ok');
  const microOps = ops.map(({ value }) => txn.parse(value));
  const appended = microOps.flatMap(([first]) =>
    first?.[0] === 'append' ? [`${first[1]}/${String(first[2])}`] : [],
  );
  const reads = microOps.filter(([first]) => first?.[0] === 'r').at(-1) ?? [];
  const lists = reads.map(([, key, list]) => [key, z.array(z.number()).parse(list)] as const);
  const found = new Set(lists.flatMap(([key, list]) => list.map((seq) => `${key}/${seq}`)));
  const missing = appended.filter((name) => !found.has(name));
  const lost: string[] = [];
  assembleVerdict(history, {
    database: mysql,
    onLost: (commit) => commit.image === 'second' && lost.push(opName(commit)),
  });
  // reports/samples/README.md
  expect(lost).toHaveLength(19);
  expect(missing.toSorted()).toEqual(lost.toSorted());
});

test('no read of the bank finds more or less money than there is', () => {
  const reads = opsIn('bank.json').filter(({ type, f }) => type === 'ok' && f === 'read');
  expect(reads.length).toBeGreaterThan(1);
  for (const { value } of reads) {
    const balances = Object.values(z.record(z.string(), z.number()).parse(value));
    expect(balances.reduce((sum, each) => sum + each, 0)).toBe(accountCount * initialBalance);
  }
});
