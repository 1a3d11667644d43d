/** Rebuilds the report of a finished, ended or killed run from its history alone. */
import '../lib/node-floor.mjs';

const { rebuildReports } = await import('../lib/cli/commands/report.ts');

await rebuildReports();
