/**
 * The boundaries that no order of parts has (inward.test.ts) hold, those of .oxlintrc.json: packages,
 * clocks, dice, and who is a stranger to whom. What is planted against them is refused.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { $ } from '../lib/kind/engine/shell.ts';

const root = join(import.meta.dirname, '..');
/** A project with our rules and nothing but planted files. */
const planted = mkdtempSync(join(tmpdir(), 'forcedetach-boundaries-'));

interface Plant {
  readonly file: string;
  readonly source: string;
  /** Undefined where nothing may be said. */
  readonly rule: string | undefined;
}

const importing = (name: string, from: string): string =>
  `import { ${name} } from '${from}';\nvoid ${name};`;
const imports = 'no-restricted-imports';

const layers = 'scenario history judge run batch report'.split(' ').map((layer) => `lib/${layer}`);

const everyLayer = layers.flatMap((layer): Plant[] => [
  { file: `${layer}/mysql.ts`, source: importing('a', 'mysql2'), rule: imports },
  { file: `${layer}/zx.ts`, source: importing('$', 'zx'), rule: imports },
  { file: `${layer}/timers.ts`, source: importing('a', 'node:timers/promises'), rule: imports },
  { file: `${layer}/timeout.ts`, source: 'setTimeout(() => 0, 1);', rule: 'no-restricted-globals' },
  { file: `${layer}/clock.ts`, source: 'void performance.now();', rule: 'no-restricted-globals' },
  { file: `${layer}/now.ts`, source: 'void Date.now();', rule: 'no-restricted-properties' },
  { file: `${layer}/dice.ts`, source: 'void Math.random();', rule: 'no-restricted-properties' },
  { file: `${layer}/wait.ts`, source: importing('waitFor', '../core/index.ts'), rule: imports },
  { file: `${layer}/port.ts`, source: importing('a', '../core/time.ts'), rule: undefined },
]);
const plants: readonly Plant[] = [
  ...everyLayer,
  { file: 'lib/sim/mysql.ts', source: importing('a', 'mysql2'), rule: imports },
  { file: 'lib/sim/now.ts', source: 'void Date.now();', rule: 'no-restricted-properties' },
  { file: 'lib/sim/wait.ts', source: importing('realClock', '../core/index.ts'), rule: imports },
  { file: 'lib/sim/clock.ts', source: importing('a', '../core/time.ts'), rule: undefined },
  { file: 'lib/mysql/kind.ts', source: importing('a', '../kind/a.ts'), rule: imports },
  { file: 'lib/mysql/engine.ts', source: importing('a', '../kind/engine/run.ts'), rule: imports },
  { file: 'lib/mysql/client.ts', source: importing('a', 'mysql2'), rule: undefined },
  { file: 'lib/kind/sim.ts', source: importing('a', '../sim/a.ts'), rule: imports },
  { file: 'lib/kind/mysql.ts', source: importing('a', 'mysql2'), rule: imports },
  { file: 'research/two-kernels/mysql.ts', source: importing('a', 'mysql2'), rule: imports },
  { file: 'research/claims/procedures/b.ts', source: importing('a', 'mysql2'), rule: imports },
  {
    file: 'research/claims/procedures/a.ts',
    source: importing('a', '../../../lib/kind/engine/run.ts'),
    rule: imports,
  },
  {
    file: 'research/claims/procedures/c.ts',
    source: importing('engine', '../../../lib/kind/index.ts'),
    rule: imports,
  },
  { file: 'lib/scenario/b.ts', source: importing('Option', 'commander'), rule: imports },
  { file: 'lib/cli/mysql.ts', source: importing('a', 'mysql2/promise'), rule: imports },
  { file: 'lib/run/ports/database.ts', source: importing('a', 'mysql2'), rule: imports },
  { file: 'lib/storage/audit/a.ts', source: importing('a', 'mysql2'), rule: imports },
  { file: 'lib/scenario/faults/b.ts', source: importing('a', '../field.ts'), rule: undefined },
  { file: 'lib/scenario/faults/a.ts', source: importing('a', 'node:fs'), rule: imports },
  { file: 'lib/scenario/remedies/b.ts', source: importing('Option', 'commander'), rule: imports },
  { file: 'lib/kind/zx.ts', source: importing('$', 'zx'), rule: undefined },
];

const outputSchema = z.object({
  diagnostics: z.array(z.object({ code: z.string(), filename: z.string() })),
});
let diagnostics: z.output<typeof outputSchema>['diagnostics'];

beforeAll(async () => {
  copyFileSync(join(root, '.oxlintrc.json'), join(planted, '.oxlintrc.json'));
  for (const { file, source } of plants) {
    mkdirSync(dirname(join(planted, file)), { recursive: true });
    writeFileSync(join(planted, file), `${source}\n`);
  }
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const run = $({ cwd: planted, nothrow: true, quiet: true });
  const { stdout } = await run`${process.execPath} ${oxlint} --format json`;
  ({ diagnostics } = outputSchema.parse(JSON.parse(stdout)));
});
afterAll(() => rmSync(planted, { recursive: true }));

test.each(plants)('$file: $rule', ({ file, rule }) => {
  const codes = diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code);
  if (rule === undefined) expect(codes).toEqual([]);
  else expect(codes.join()).toContain(rule);
});
