/** `forcedetach doctor`: what this machine lacks for a real cluster, and what mends it. */
import type { Command } from 'commander';
import {
  needCheckout,
  exitCode,
  type ExitCode,
  kubernetesDefault,
  typed,
} from '../../core/index.ts';
import { type CheckResult, askRegistry, chooseSource } from '../../kind/index.ts';
import { commandLine, exits } from '../command.ts';
import { type RunFlags, imagesOption } from '../flags/flags.ts';

/** Exits with 4 when something is missing. */
export const doctor = (): Command =>
  commandLine(typed('doctor'), [
    ['show what is missing, and a command that fixes it', ''],
    ['the same for a machine that reaches no registry', '--images built'],
    ['for a script', '--json'],
  ])
    .description('Lists what this machine lacks for a real cluster. Leaves nothing behind.')
    .addOption(imagesOption())
    .option('--json', 'print the checks as JSON', false)
    .action(exits(check));

async function check({ images, json }: Pick<RunFlags, 'images' | 'json'>): Promise<ExitCode> {
  needCheckout('a real cluster');
  const { localToolsImage, runPreflight } = await import('../../kind/index.ts');
  const results = await runPreflight({
    tools: await localToolsImage(),
    buildsImages: await buildsImages(images),
  });
  process.stdout.write(json ? `${JSON.stringify(results, undefined, 2)}\n` : table(results));
  const failed = results.some(({ state }) => state === 'failed');
  return failed ? exitCode.infrastructure : exitCode.expected;
}

async function buildsImages(images: RunFlags['images']): Promise<boolean> {
  if (images !== 'auto') return images === 'built';
  return chooseSource('auto', await askRegistry(kubernetesDefault)).source === 'built';
}

/** One check a line, the command that mends it beneath. */
export function table(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const lines = results.flatMap(({ state, name, found, mend }) => [
    `${state.padEnd(8)}  ${name.padEnd(width)}  ${found.split('\n')[0] ?? ''}`,
    ...(mend === undefined ? [] : [`${' '.repeat(10)}try: ${mend}`]),
  ]);
  const failed = results.filter(({ state }) => state === 'failed').length;
  const verdict = failed === 0 ? 'A cluster can run here.' : `Missing: ${failed}.`;
  return `${[...lines, '', verdict].join('\n')}\n`;
}
