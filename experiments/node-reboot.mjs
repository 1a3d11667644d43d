/** Does a node that reboots come back to a volume that is still its own? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'node-reboot',
  fault: 'node-reboot',
});
