/** Does what was measured fit what was expected? Notes the results of runs beside the expectations. */
import '../lib/node-floor.mjs';

const { noteResults } = await import('../lib/cli/commands/expectations.ts');

await noteResults();
