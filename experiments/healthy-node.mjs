/** What does a remedy that is meant for a lost node do to a healthy one? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'healthy-node',
  question: 'Nothing is broken: what does a remedy for a lost node do to a healthy one?',
  fault: 'none',
  defaults: { remedy: 'out-of-service', remedyAt: 0 },
});
