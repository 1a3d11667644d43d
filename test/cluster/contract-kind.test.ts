/** kind keeps the port's contract, the same as the model does. Needs a Docker engine. */
import { describe, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { kindBackend } from '../../lib/kind/backend.ts';
import { describeTestbed } from '../contract/testbed-contract.ts';

/** A cold image build may come first. */
const timeoutMs = 40 * 60_000;

const { exitCode } = await $({ nothrow: true, quiet: true, timeout: '20s' })`docker info`;
if (exitCode === 0) {
  describeTestbed('kind', () => kindBackend({ clusterName: 'contract' }), timeoutMs);
} else {
  process.stderr.write('SKIPPED: the contract on kind; no Docker engine answers (.ci/setup)\n');
  describe.skip('the testbed of kind', () => {
    test('keeps the contract', () => undefined);
  });
}
