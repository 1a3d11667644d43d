/** Imports point inward, all over lib: what knows whom is written here once, and read from the source. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/**
 * Parts from the innermost on: each may import what stands above it, be it a type only, and nothing
 * else. A file belongs to the first that it fits, so what others of its folder are made of goes before.
 */
const parts = [
  // Words that all the rest is made of.
  'lib/*.ts', // words, files, errors, time
  'lib/fields/**', // what a field is
  'lib/disk-modes/**',
  'lib/storage/**',
  '{lib/*/fields.ts,lib/{faults,remedies,database}/kinds/**}', // what there is to choose
  'lib/experiment/{*.ts,verdict/verdict.ts}', // what is asked, and what is answered
  'lib/workload/sql.ts', // its names of operations are in every record
  'lib/checkers/evidence.ts', // what an audit reads, in a record
  'lib/history/**',
  'lib/workload/**',
  // What a checker is given.
  'lib/checkers/{checker,journal,losses,op-sample,reconcile,reconcile-documents,seen-commits}.ts',
  'lib/database/*.ts', // the port
  'lib/cluster/*.ts', // the port
  // The way from a history to a verdict, and the run.
  'lib/checkers/**',
  'lib/timeline/**',
  'lib/faults/**',
  'lib/remedies/**',
  'lib/experiment/**',
  // Readers of runs.
  'lib/measurements/**', // what they note, and read again
  'lib/crash-states/**',
  'lib/expectations/**',
  'lib/matrix/**',
  'lib/report/**',
  'lib/export/**',
  'lib/group-replication/**',
  // Implementations of the ports, and what these stand on.
  'lib/cluster/sim/**',
  'lib/self-fence/**',
  'lib/csi/**',
  'lib/database/audit/**',
  'lib/engine/**',
  'lib/images/**',
  'lib/probe/**', // on a user’s cluster, so that it knows none of ours
  'lib/cluster/kind/**',
  // The database: an argument of all above.
  'lib/mysql/**',
  // Drivers of runs.
  'lib/sweep/**',
  // Programs that people start.
  'lib/library/**',
  'lib/{cli/**,node-floor.mjs}',
  '{bin/*,experiments/*,index.ts}',
  // About the tool: nothing of the tool knows it.
  'research/**',
];

interface Import {
  readonly from: string;
  readonly to: string;
}

const partOf = (file: string): number => parts.findIndex((part) => matchesGlob(file, part));
const isOutward = ({ from, to }: Import): boolean => partOf(to) > partOf(from);
const arrow = ({ from, to }: Import): string => `${from} -> ${to}`;

const files = globSync(
  ['{lib,research}/**/*.{ts,mjs}', 'bin/*.mjs', 'experiments/*.mjs', 'index.ts'],
  {
    cwd: root,
    exclude: ['**/*.test.ts', '**/gen/**'],
  },
);

/** Files that one imports: statically, by an export, or when it comes to that. */
function importsOf(from: string): Import[] {
  const source = readFileSync(join(root, from), 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(from, source).module;
  const said = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ];
  return said
    .filter((each) => each.startsWith('.'))
    .map((each) => ({ from, to: join(dirname(from), each) }));
}

test('every file has its part', () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => partOf(file) === -1)).toEqual([]);
});

test('every part has files', () => {
  const empty = parts.filter((_, part) => !files.some((file) => partOf(file) === part));
  expect(empty).toEqual([]);
});

test('imports point inward', () => {
  expect(files.flatMap(importsOf).filter(isOutward).map(arrow)).toEqual([]);
});

test('a room is imported by its face alone', () => {
  const room = 'lib/cluster/kind/';
  const inside = files
    .flatMap(importsOf)
    .filter(({ from, to }) => to.startsWith(room) && !from.startsWith(room));
  expect(inside.length).toBeGreaterThan(5);
  expect(inside.filter(({ to }) => to !== `${room}index.ts`).map(arrow)).toEqual([]);
});

test('of the database others import its face alone', () => {
  const inside = files
    .flatMap(importsOf)
    .filter(({ from, to }) => to.startsWith('lib/mysql/') && !from.startsWith('lib/mysql/'))
    .filter(({ to }) => to !== 'lib/mysql/database.ts' && to !== 'lib/mysql/fields.ts');
  expect(inside.map(arrow)).toEqual([]);
});

/** An import of each cycle of files, of types too. */
function cyclesIn(imports: readonly Import[]): string[] {
  const importsBy = Map.groupBy(imports, ({ from }) => from);
  const [open, done] = [new Set<string>(), new Set<string>()];
  const closing = (file: string): Import[] => {
    if (done.has(file)) return [];
    open.add(file);
    const found = (importsBy.get(file) ?? []).flatMap((each) =>
      open.has(each.to) ? [each] : closing(each.to),
    );
    open.delete(file);
    done.add(file);
    return found;
  };
  return [...importsBy.keys()].flatMap(closing).map(arrow);
}

test('no files import each other in a circle, be it a type only', () => {
  expect(cyclesIn(files.flatMap(importsOf))).toEqual([]);
});

test('a circle would be told', () => {
  const circle = ['lib/faults/fault.ts', 'lib/faults/lasting.ts', 'lib/faults/second.ts'];
  const imports = circle.map((from, at) => ({ from, to: circle[(at + 1) % 3] ?? '' }));
  expect(cyclesIn(imports)).toEqual(['lib/faults/second.ts -> lib/faults/fault.ts']);
  expect(cyclesIn(imports.slice(1))).toEqual([]);
});

test.each([
  ['lib/errors.ts', 'lib/cluster/kind/gone.ts'],
  ['lib/faults/kinds/freeze.ts', 'lib/faults/fault.ts'],
  ['lib/history/migration.ts', 'lib/experiment/run/run.ts'],
  ['lib/experiment/run/run.ts', 'lib/cluster/sim/backend.ts'],
  ['lib/experiment/run/run.ts', 'lib/csi/main.ts'],
  ['lib/report/write.ts', 'lib/engine/run.ts'],
  ['lib/cluster/sim/backend.ts', 'lib/cluster/kind/backend.ts'],
  ['lib/database/port.ts', 'lib/group-replication/run.ts'],
  ['lib/cli/command.ts', 'research/claims/command.ts'],
  ['experiments/node-crash.mjs', 'research/claims/command.ts'],
  ['lib/checkers/index.ts', 'lib/mysql/database.ts'],
  ['lib/cluster/kind/backend.ts', 'lib/mysql/database.ts'],
  ['lib/cluster/sim/backend.ts', 'lib/mysql/database.ts'],
  ['lib/report/write.ts', 'lib/mysql/database.ts'],
])('%s may not know %s', (from, to) => expect(isOutward({ from, to })).toBe(true));
