/** `npx forcedetach probe`, for those who start this file. */
import { start } from '../lib/cli/start.mjs';

await start('probe');
