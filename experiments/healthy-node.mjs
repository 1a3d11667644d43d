/** What does a remedy that is meant for a lost node do to a healthy one? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'healthy-node',
  fault: 'none',
  remedy: { kind: 'out-of-service', at: '0s' },
});
