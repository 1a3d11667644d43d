/** A tool's end: an exit code, a crash where that is an answer, or nothing that could be judged. */
import { expect, test } from 'vitest';
import { runTool } from './command.ts';

const { signal } = new AbortController();
const dies = (name: string): string[] => ['bash', '-c', `echo so far; kill -${name} $$`];

test('a crash is an answer where it may be one', async () => {
  const answer = await runTool(dies('FPE'), { timeoutMs: 5000, signal, mayCrash: true });
  expect(answer).toMatchObject({ exitCode: 136, output: 'so far\nended by SIGFPE' });
});

test.each([
  ['a crash elsewhere', 'FPE', false],
  ['whoever is killed', 'KILL', true],
])('%s is none', async (_, name, mayCrash) => {
  const told = runTool(dies(name), { timeoutMs: 5000, signal, mayCrash });
  await expect(told).rejects.toMatchObject({ code: 'AUDIT_TOOL_HUNG' });
});
