/** Every command that a page, a committed verdict or a batch gives to paste is taken by today's flags. */
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseArguments } from '../../lib/cli/command.ts';
import { replaySchedule } from '../../lib/cli/commands/replay.ts';
import { matrixCommand } from '../../lib/cli/flags/matrix-flags.ts';
import { requestOf, type ExperimentDefinition } from '../../lib/cli/flags/request.ts';
import { isExperiment } from '../../lib/cli/flags/typed.ts';
import { committedFiles } from '../support/committed.ts';
import { pages, read, root } from './pages.ts';

const { definitions, last } = vi.hoisted(() => ({
  definitions: new Map<string, ExperimentDefinition>(),
  last: { args: [] as readonly string[], name: '' },
}));
vi.mock('../../lib/cli/commands/experiment.ts', () => ({
  runExperiment: (definition: ExperimentDefinition, args: readonly string[] = []) => {
    definitions.set(definition.name, definition);
    Object.assign(last, { args, name: definition.name });
  },
}));
for (const file of committedFiles('experiments')) {
  const name = basename(file, '.mjs');
  if (file.endsWith('.mjs') && isExperiment(name)) await import(join(root, file));
}

const outputs = committedFiles('reports').filter((path) => /\/(verdict|batch)\.json$/.test(path));
/** A command ends where its code does, in Markdown or in JSON. */
const typed = /npx zx experiments\/([a-z-]+)\.mjs([^`"\n|…]*)/g;
const isPlayed = (name: string): boolean =>
  isExperiment(name) || ['matrix', 'replay'].includes(name);
const byLine = new Map(
  [...pages, ...outputs]
    .flatMap((page) => [...read(page).matchAll(typed)])
    .filter(([line, name = '']) => !line.endsWith(' --help') && isPlayed(name))
    .map(([line, name = '', words = '']) => [
      line,
      { name, words: words.split(' ').filter(Boolean) },
    ]),
);

test('there are some of each', () => {
  const names = [...byLine.values()].map(({ name }) => name);
  for (const name of ['matrix', 'replay', 'zombie']) {
    expect(names.filter((each) => each === name).length).toBeGreaterThan(1);
  }
});

async function take(name: string, words: readonly string[]): Promise<unknown> {
  if (name === 'matrix') return parseArguments(matrixCommand(), words);
  if (name === 'replay') {
    last.name = 'nothing';
    process.argv = ['node', 'zx', 'replay.mjs', ...words];
    await replaySchedule();
    return take(last.name, last.args);
  }
  const definition = definitions.get(name) ?? expect.fail(`no experiment ${name}`);
  return requestOf(definition, words, new Date(0));
}

test.each([...byLine])('%s', async (_, { name, words }) => {
  expect(await take(name, words)).toBeDefined();
});
