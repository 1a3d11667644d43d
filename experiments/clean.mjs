/** `npx forcedetach clean`, for those who start this file. */
import { start } from '../lib/cli/start.mjs';

await start('clean');
