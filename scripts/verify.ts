/** `npm run verify`: every static check in parallel; shows each one's result and fails at the end. */
import { $ } from '../lib/kind/engine/shell.ts';

/** Scripts of package.json. */
const checks = ['types', 'lint', 'format', 'dead-code'] as const;

const results = await Promise.all(
  checks.map(async (check) => {
    const startedMs = performance.now();
    const { exitCode, stdall } = await $({ nothrow: true, quiet: true })`npm run --silent ${check}`;
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const ok = exitCode === 0;
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${check} (${seconds} s)\n`);
    if (!ok) process.stdout.write(`${stdall.trimEnd()}\n`);
    return ok;
  }),
);
process.exitCode = results.every(Boolean) ? 0 : 1;
