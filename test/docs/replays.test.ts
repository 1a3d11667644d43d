/** Every command that a page, a committed verdict or a batch gives to paste is taken by today's flags. */
import { expect, test } from 'vitest';
import { parseArguments } from '../../lib/cli/command.ts';
import { scheduleIn, readPreset } from '../../lib/cli/commands/experiment.ts';
import { matrixCommand } from '../../lib/cli/commands/matrix.ts';
import { requestOf } from '../../lib/cli/flags/request.ts';
import { isPreset } from '../../lib/core/program.ts';
import { readFlags } from '../support/read-flags.ts';
import { committedFiles } from '../support/committed.ts';
import { pages, read } from './pages.ts';

// Then a file of experiments/ gives its data and plays nothing.
process.argv[1] = 'forcedetach';

const outputs = committedFiles('reports').filter((path) => /\/(verdict|batch)\.json$/.test(path));
/** A command ends where its code does, in Markdown or in JSON. */
const typed = /npx zx experiments\/([a-z-]+)\.mjs([^`"\n|…]*)/g;
const isPlayed = (name: string): boolean => isPreset(name) || ['matrix', 'replay'].includes(name);
const byLine = new Map(
  [...pages, ...outputs]
    .flatMap((page) => [...read(page).matchAll(typed)])
    .filter(([line, name = '']) => !line.endsWith(' --help') && isPlayed(name))
    .map(([line, name = '', words = '']) => [
      line,
      { name, words: words.split(' ').filter(Boolean) },
    ]),
);

async function take(name: string, words: readonly string[]): Promise<unknown> {
  if (name === 'matrix') return parseArguments(matrixCommand(), words);
  const [file = '', ...flags] = words;
  return name === 'replay'
    ? requestOf(await scheduleIn(file), readFlags(flags), new Date(0))
    : requestOf(await readPreset(name), readFlags(words), new Date(0));
}

test.each([...byLine])('%s', async (_, { name, words }) => {
  expect(await take(name, words)).toBeDefined();
});
