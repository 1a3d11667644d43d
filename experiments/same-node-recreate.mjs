/** How long does a pod take that is deleted and comes back to the same node, and is its data safe? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'same-node-recreate',
  question: 'A pod is deleted again and again, and comes back to its node: when is it Ready?',
  fault: 'none',
  defaults: { recreations: 12, also: 'attacher-down', alsoAt: 30_000, alsoForMs: 60_000 },
});
