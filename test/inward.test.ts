/** Imports point inward, from room to room: which room knows which is written here once, and read from the source. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Rooms from the innermost on: each may import those before it, be it a type only. docs/architecture.md says what each is for. */
const rooms = [
  'core',
  'scenario',
  'history',
  'judge',
  'run',
  'storage',
  'sim',
  'kind',
  'mysql',
  'batch',
  'report',
  'probe',
  'sweep',
  'cli',
];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** What is in no room, such as research/, may import every room, and no room imports it. */
const placeOf = (file: string): number => {
  const [, room = ''] = /^lib\/([^/]+)\//.exec(file) ?? [];
  return room === '' ? rooms.length : rooms.indexOf(room);
};
const isOutward = ({ from, to }: Import): boolean => placeOf(to) > placeOf(from);
const arrow = ({ from, to }: Import): string => `${from} -> ${to}`;

const files = globSync(
  ['{lib,research}/**/*.{ts,mjs}', 'bin/*.mjs', 'experiments/*.mjs', 'index.ts'],
  {
    cwd: root,
    exclude: ['**/*.test.ts', '**/gen/**', 'research/full/**'],
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

test('every file of lib is in a room', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => placeOf(file) === -1)).toEqual([]);
  expect(files.filter((file) => /^lib\/[^/]+$/.test(file))).toEqual([]);
  expect(rooms.length).toBeLessThanOrEqual(14);
});

test('imports point inward', () => {
  expect(files.flatMap(importsOf).filter(isOutward).map(arrow)).toEqual([]);
});

/** The package's own face is index.ts, which names what it shows file by file. */
const isBehindFace = ({ from, to }: Import): boolean =>
  from !== 'index.ts' && placeOf(from) !== placeOf(to) && /^lib\/(?!\w+\/index\.ts$)/.test(to);

test('a room is imported by its face alone', () => {
  const arrows = files.flatMap(importsOf).filter(({ from }) => !from.endsWith('.mjs'));
  expect(arrows.filter(({ to }) => /^lib\/\w+\/index\.ts$/.test(to)).length).toBeGreaterThan(300);
  expect(arrows.filter(isBehindFace).map(arrow)).toEqual([]);
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
  const circle = [
    'lib/run/faults/fault.ts',
    'lib/run/faults/declared.ts',
    'lib/run/faults/around.ts',
  ];
  const imports = circle.map((from, at) => ({ from, to: circle[(at + 1) % 3] ?? '' }));
  expect(cyclesIn(imports)).toEqual(['lib/run/faults/around.ts -> lib/run/faults/fault.ts']);
  expect(cyclesIn(imports.slice(1))).toEqual([]);
});

test.each([
  ['lib/core/errors.ts', 'lib/kind/scope.ts'],
  ['lib/scenario/faults/freeze.ts', 'lib/run/faults/fault.ts'],
  ['lib/history/migration.ts', 'lib/run/run.ts'],
  ['lib/run/run.ts', 'lib/sim/backend.ts'],
  ['lib/run/run.ts', 'lib/storage/csi/main.ts'],
  ['lib/sim/backend.ts', 'lib/kind/backend.ts'],
  ['lib/cli/program.ts', 'research/claims/command.ts'],
  ['lib/judge/checkers/index.ts', 'lib/mysql/database.ts'],
  ['lib/kind/backend.ts', 'lib/mysql/database.ts'],
  ['lib/sim/backend.ts', 'lib/mysql/database.ts'],
])('%s may not know %s', (from, to) => expect(isOutward({ from, to })).toBe(true));
