/** A tool's end: an exit code, a crash where that is an answer, or nothing that could be judged. */
import { expect, test } from 'vitest';
import { runTool } from './command.ts';

const { signal } = new AbortController();
const dies = (name: string): string[] => ['bash', '-c', `echo so far; kill -${name} $$`];

const kinds = [
  { tool: 'bash', exit: (code: number) => code > 128, means: 'damage', source: '' },
] as const;

test.each([
  ['FPE', 136],
  ['KILL', 137],
])('SIG%s is an end of a tool whose ends are known', async (name, exitCode) => {
  const output = `so far\nended by SIG${name}`;
  const ended = runTool(dies(name), { timeoutMs: 5000, signal, kinds });
  expect(await ended).toMatchObject({ exitCode, output });
});

test('of any other tool it is none', async () => {
  const ended = runTool(dies('KILL'), { timeoutMs: 5000, signal });
  await expect(ended).rejects.toMatchObject({ code: 'AUDIT_TOOL_HUNG' });
});

test('nor is a tool that hangs and is killed', async () => {
  const ended = runTool(['bash', '-c', 'exec sleep 9'], { timeoutMs: 200, signal, kinds });
  await expect(ended).rejects.toMatchObject({ code: 'AUDIT_TOOL_HUNG' });
});
