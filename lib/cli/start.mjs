/** The first import of every file that people start: no TypeScript is read before the Node is checked. */
import './node-floor.mjs';

/**
 * A preset: plays it where its file was started, and only gives it to `forcedetach run`. Never throws.
 * @template {import('./flags/request.ts').ExperimentDefinition} D
 * @param {D} definition
 * @returns {Promise<D>}
 */
export async function experiment(definition) {
  const { startedAs } = await import('../core/index.ts');
  if (startedAs() === 'forcedetach') return definition;
  const { playPreset } = await import('./commands/experiment.ts');
  await playPreset(definition);
  return definition;
}

/**
 * Starts a command of the tree with the words of this process behind it, and sets the exit code. Never throws.
 * @param {...string} command
 */
export async function start(...command) {
  const { scriptArguments } = await import('../core/index.ts');
  const { forcedetach } = await import('./forcedetach.ts');
  await forcedetach([...command, ...scriptArguments()]);
}
