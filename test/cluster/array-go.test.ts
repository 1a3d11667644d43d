/** The array's own tests: they need Go, as building its image does. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { arrayModule } from '../../lib/kind/images/built/parts.ts';
import { projectRoot } from '../../lib/core/program.ts';

const go = $({ quiet: true, cwd: join(projectRoot, arrayModule) });

test('the array is formatted and passes its own tests', async () => {
  expect((await go`gofmt -l .`).stdout).toBe('');
  await go`go vet ./...`;
  expect((await go`go test ./...`).stdout).toMatch(/^ok\s/);
});
