#!/usr/bin/env node
/** `kubectl detach-probe`: the probe, where this file is on the PATH. */
import { start } from '../lib/cli/start.mjs';

await start('probe');
