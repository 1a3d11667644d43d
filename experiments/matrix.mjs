/** Which combinations are safe? Every cell of a matrix, with controls and repeats. */
import '../lib/node-floor.mjs';

const { runMatrix } = await import('../lib/cli/commands/matrix.ts');

await runMatrix();
