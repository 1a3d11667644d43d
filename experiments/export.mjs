/** A run's history in the form that Elle and Jepsen's checkers read, to have it judged by others. */
import '../lib/node-floor.mjs';

const { exportRuns } = await import('../lib/cli/commands/export.ts');

await exportRuns();
