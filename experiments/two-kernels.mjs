/** Do loop devices of one kernel damage a database as two machines with a kernel each would? */
import '../lib/node-floor.mjs';

const { twoKernels } = await import('../lib/cli/commands/two-kernels.ts');

await twoKernels();
