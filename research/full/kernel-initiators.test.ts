/** One revocation of each protocol on a kernel's own initiator, in emulated guests: the words of docs/internals/kernel-initiators.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { initiatorGuest } from '../kernel-initiators/guests.ts';
import { KernelLab } from '../kernel-initiators/lab.ts';
import { labImages, oneTrial } from '../kernel-initiators/command.ts';
import { protocols } from '../kernel-initiators/plan.ts';

const onProgress = (line: string): void => console.log(`  ${line}`);

let lab: KernelLab;
beforeAll(async () => {
  lab = await KernelLab.open(await labImages('auto', onProgress));
});
afterAll(() => lab[Symbol.asyncDispose]());

test.each([
  ['iscsi', 'acl', 'goes on'],
  ['nvme', 'host', 'goes on'],
  ['rbd', 'blocklist', 'error'],
  ['nfs', 'client', 'error'],
] as const)('%s, %s: a living kernel %s', async (protocol, revocation, answer) => {
  const files = await initiatorGuest(protocols[protocol].modules, onProgress);
  const server = await protocols[protocol].serve(lab);
  const planned = { row: { transport: protocol, revocation }, cell: 'living', repeat: 1 } as const;
  const { outcome } = (await oneTrial({ lab, protocol, server, files, planned })).line;
  expect(outcome.failed).toBeNull();
  expect(outcome.revoked.at).toBe(answer);
});
