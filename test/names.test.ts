/** One meaning per name: the name of an exported type of lib is declared once in all of lib. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Names that several files declare all the same, `NAME: FILE, FILE`, each with its reason above it. */
const exceptions: readonly string[] = [];

interface Declared {
  readonly name: string;
  readonly file: string;
  readonly isExported: boolean;
}

const files = globSync('lib/**/*.{ts,mjs}', {
  cwd: root,
  exclude: ['**/*.test.ts', '**/gen/**'],
}).toSorted();

/** Types, interfaces and classes that stand at the top of a file. */
const declaredIn = (file: string): Declared[] =>
  parseSync(file, readFileSync(join(root, file), 'utf8')).program.body.flatMap((statement) => {
    const isExported = statement.type === 'ExportNamedDeclaration';
    const declaration = isExported ? statement.declaration : statement;
    if (
      declaration?.type !== 'TSInterfaceDeclaration' &&
      declaration?.type !== 'TSTypeAliasDeclaration' &&
      declaration?.type !== 'ClassDeclaration'
    ) {
      return [];
    }
    const name = declaration.id?.name;
    return name === undefined ? [] : [{ name, file, isExported }];
  });

test('the name of an exported type is declared once, also where another file keeps it to itself', () => {
  const byName = Map.groupBy(files.flatMap(declaredIn), ({ name }) => name);
  expect(byName.size).toBeGreaterThan(1000);
  const several = [...byName]
    .filter(([, found]) => found.length > 1 && found.some(({ isExported }) => isExported))
    .map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`);
  expect(several.toSorted()).toEqual(exceptions);
});
