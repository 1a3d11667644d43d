/** What will a matrix come to? Foretold by the model before the runs, and scored after them. */
import '../lib/node-floor.mjs';

const { forecast } = await import('../lib/cli/commands/forecast.ts');

await forecast();
