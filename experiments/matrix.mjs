/** Which combinations are safe? Every cell of a matrix, with controls and repeats. */
import { start } from '../lib/cli/start.mjs';

await start('matrix');
