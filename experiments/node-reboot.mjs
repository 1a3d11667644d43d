/** Does a node that reboots come back to a volume that is still its own? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'node-reboot',
  question: 'A node reboots: does its database come back with every acknowledged commit?',
  fault: 'node-reboot',
});
