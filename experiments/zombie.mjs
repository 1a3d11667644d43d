/** Does a node that stood still, and goes on after the hand-over, damage what the next one wrote? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'zombie',
  question:
    'A node stands still and is thawed after the hand-over: does it write over its successor?',
  fault: 'freeze',
  defaults: { remedy: 'force-delete' },
});
