/** Every command that a page, a committed verdict or a batch gives to paste is taken by today's flags. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseArguments } from '../../lib/cli/command.ts';
import { replaySchedule } from '../../lib/cli/commands/replay.ts';
import { matrixCommand } from '../../lib/cli/flags/matrix-flags.ts';
import { requestOf, type ExperimentDefinition } from '../../lib/cli/flags/request.ts';
import { isExperiment } from '../../lib/cli/flags/typed.ts';
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
for (const file of readdirSync(join(root, 'experiments'))) {
  const [name = '', kind] = file.split('.');
  if (kind === 'mjs' && isExperiment(name)) await import(join(root, 'experiments', file));
}

const outputs = readdirSync(join(root, 'reports'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /(^|\/)(verdict|batch)\.json$/.test(name))
  .map((name) => join('reports', name));
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
