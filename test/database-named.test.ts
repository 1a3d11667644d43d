/**
 * One database is named in its own folder and its manifests; elsewhere it is `database`
 * (lib/database/port.ts). Where it is still named is listed with how often, and the list only shrinks.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const listed = join(import.meta.dirname, 'database-named.json');
const words = /mysql|innodb|innochecksum|binlog|gtid/i;

const naming = Object.fromEntries(
  readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
    .map((name) => `lib/${name}`)
    .filter((name) => /\.(ts|mjs|js|css|sh)$/.test(name) && !/\.test\.ts$|\/gen\//.test(name))
    .filter((name) => !name.startsWith('lib/mysql/'))
    .toSorted()
    .map((name) => [name, linesNaming(name)] as const)
    .filter(([, count]) => count > 0),
);

function linesNaming(name: string): number {
  const text = readFileSync(join(root, name), 'utf8');
  return text.split('\n').filter((line) => words.test(line)).length;
}

test('no file names the database more often than it is listed with', () => {
  const allowed = JSON.parse(readFileSync(listed, 'utf8')) as Readonly<Record<string, number>>;
  const more = Object.entries(naming).filter(([name, count]) => count > (allowed[name] ?? 0));
  expect(more).toEqual([]);
  // What became fewer is struck off at once, so that it never comes back.
  expect(allowed).toEqual(naming);
  const page = readFileSync(join(root, 'docs/how-to/write-a-database.md'), 'utf8');
  expect(page).toContain(`and ${Object.keys(naming).length} do now`);
});
