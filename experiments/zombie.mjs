/** Does a node that stood still, and goes on after the hand-over, damage what the next one wrote? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'zombie',
  fault: 'freeze',
  remedy: 'force-delete',
});
