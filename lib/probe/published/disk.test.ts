/** From a certificate to a disk: the committed ones, and what was changed, is open or was never measured. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { cutRecord, cutVolume } from '../../../test/support/cut-volume.ts';
import { strangerClasses } from '../../../test/support/stranger-objects.ts';
import type { DiskMode } from '../../scenario/disks/index.ts';
import { type CutCertificate, unpacked } from '../certificate.ts';
import { certifiedDisk } from './driver-file.ts';
import { planHash } from '../plan.ts';

const certificates = fileURLToPath(
  new URL('../../../test/fixtures/certificates/block.acme.example/', import.meta.url),
);
const table = join(certificates, 'dac05a0c7485.json');
const whole = (name: string): string =>
  unpacked(join(certificates, 'dac05a0c7485', `${name}.json.zst`));
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-disk-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(content: string | object, ending = '.json'): string {
  const path = join(folder, `${(files += 1)}${ending}`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('a packed one is read as it lies', () => {
  const packed = join(certificates, 'dac05a0c7485', 'flint.json.zst');
  expect(certifiedDisk(packed).disk?.mode).toBe('reservation');
});

const decided = ['basalt', 'cobalt', 'dolomite', 'emerald', 'flint'];

const named = [...decided, 'amber', 'garnet'];
/** Their cuts did not wait for the hand-over, so that they tell nothing of it. */
const byTrialsAlone = ['cobalt', 'emerald'];

test.each(named)('%s of the table is played as what its driver was made to do', (storageClass) => {
  const disk = certifiedDisk(table, { storageClass });
  expect(disk.disk?.mode).toBe(strangerClasses[storageClass]?.['detachMode']);
  const isAlone = byTrialsAlone.includes(storageClass);
  expect(disk.diskFrom).toMatchObject({
    ...{ driver: 'block.acme.example', version: 'dac05a0c7485', storageClass },
    ...(isAlone ? { by: 'trials', volumes: 7 } : { by: 'trials-and-cuts', volumes: 10 }),
    planHash: (JSON.parse(whole(storageClass)) as { planHash: string }).planHash,
  });
});

test.each(decided)('%s as the probe wrote it is the same kind; it tells no version', (name) => {
  const { disk: { mode: disk } = {}, diskFrom } = certifiedDisk(file(whole(name)));
  expect(disk).toBe(strangerClasses[name]?.['detachMode']);
  expect(diskFrom).toMatchObject({ version: null, by: 'trials', volumes: 7 });
});

test('a late cut has the longest delay that was seen, which is shorter than the true one', () => {
  const { disk: { cutAfter: ofTrials } = {} } = certifiedDisk(file(whole('dolomite')));
  const { disk: { cutAfter: withCuts } = {} } = certifiedDisk(table, { storageClass: 'dolomite' });
  expect([ofTrials, withCuts]).toEqual([2604, 4682]);
  expect(withCuts).toBeLessThan(Number(strangerClasses['dolomite']?.['cutAfterMs']));
});

test('a cut that disagrees with the trials leaves nothing', () => {
  const { cuts, ...rest } = JSON.parse(readFileSync(table, 'utf8')) as { cuts: { name: string }[] };
  // Beside no records: the rows themselves count.
  const wrong = cuts
    .filter(({ name }) => name === 'amber')
    .map((row) => ({ ...row, name: 'basalt' }));
  expect(() => certifiedDisk(file({ ...rest, cuts: wrong }), { storageClass: 'basalt' })).toThrow(
    expect.objectContaining({
      code: 'CERTIFICATE_UNDECIDED',
      message: expect.stringMatching(/under a cut, both-wrote/),
    }),
  );
});

test.each(['unfenced', 'fence-if-out-of-service'] as const)(
  'where two agree, --disk %s says which one is played, and both are told',
  (disk) => {
    expect(certifiedDisk(file(whole('amber')), { disk })).toMatchObject({
      disk: { mode: disk },
      diskFrom: { modes: ['unfenced', 'fence-if-out-of-service'] },
    });
  },
);

const undecided = (): string => {
  const certificate = JSON.parse(whole('basalt')) as { trials: object[] };
  const trials = certificate.trials.map((trial) => ({ ...trial, ended: 'the API was away' }));
  return file({ ...certificate, trials });
};

test.each([
  ['no class is named', table, {}, 'CERTIFICATE_CLASS', /dac05a0c7485.json has 7 classes/],
  ['one that it has not', table, { storageClass: 'x' }, 'CERTIFICATE_CLASS', /called x/],
  ['two modes agree', file(whole('amber')), {}, 'CERTIFICATE_OPEN', /marked out of service/],
  [
    ...['another disk', table, { storageClass: 'basalt', disk: 'unfenced' }, 'DISK_CONFLICT'],
    /--disk unfenced is not what the certificate shows of basalt: fenced/,
  ],
  [
    ...['one of neither', file(whole('amber')), { disk: 'fenced' }, 'DISK_CONFLICT'],
    /unfenced or fence-if-out-of-service/,
  ],
  ['undecided', undecided(), {}, 'CERTIFICATE_UNDECIDED', /kept-1 is undecided: the API was away/],
  ['no file', join(folder, 'none'), {}, 'FILE_UNREADABLE', /none/],
  ['no JSON', file('{'), {}, 'NO_CERTIFICATE', /no certificate/],
  ['something else', file({ kind: 'verdict' }), {}, 'NO_CERTIFICATE', /is no certificate/],
  ['nothing', file('null'), {}, 'NO_CERTIFICATE', /no certificate/],
  ['a prediction', file({ prediction: {} }), {}, 'NO_CERTIFICATE', /nothing was measured/],
  ['a packed one that is none', file('{}', '.json.zst'), {}, 'NO_CERTIFICATE', /no certificate/],
  ['a folder', folder, {}, 'FILE_NOT_REGULAR', /not a regular file/],
  [
    'rows that are none',
    file({ kind: 'driver-certificates', classes: [1] }),
    {},
    'NO_CERTIFICATE',
    /not a whole one/,
  ],
  ['half of one', file({ kind: 'cut-certificate' }), {}, 'NO_CERTIFICATE', /not a whole one/],
] as const)('refused: %s', (_, path, wish, code, message) => {
  const asked = wish as { readonly storageClass?: string; readonly disk?: DiskMode };
  expect(() => certifiedDisk(path, asked)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});

test('one that acknowledged what it did not keep is no kind of disk', () => {
  const table = JSON.parse(readFileSync(join(certificates, 'dac05a0c7485.json'), 'utf8')) as {
    classes: { name: string; mode: string | null; notes: string[] }[];
  };
  const classes = table.classes
    .filter(({ name }) => name === 'basalt')
    .map((row) => ({ ...row, mode: null, notes: ['kept-1: 3 writes were acknowledged'] }));
  // Beside no records: the row itself counts.
  expect(() => certifiedDisk(file({ ...table, classes }))).toThrow(
    expect.objectContaining({ code: 'CERTIFICATE_UNDECIDED' }),
  );
});

test('a row whose records were exchanged is refused', () => {
  const copy = join(folder, 'copy');
  cpSync(certificates, copy, { recursive: true });
  const records = join(copy, 'dac05a0c7485');
  cpSync(join(records, 'amber.json.zst'), join(records, 'basalt.json.zst'));
  expect(() => certifiedDisk(join(copy, 'dac05a0c7485.json'), { storageClass: 'cobalt' })).toThrow(
    /basalt.json.zst is not what the row basalt was made from/,
  );
});

/** One of a single volume, whose writer wrote ten seconds longer than it was attached. */
function cutOf(change: Partial<CutCertificate> = {}): string {
  const plan = { version: 1, classes: ['fast'], nodes: ['a', 'b'], remedy: 'force-delete' };
  const volumes = [cutVolume({ goneMs: 180_000, inMs: 185_000, lastMs: 190_000 })];
  return file({
    ...{ schemaVersion: 1, kind: 'cut-certificate', kubernetes: 'v1.37.2', plan },
    ...{ beganAt: '2026-11-25T03:52:58.989Z', planHash: planHash(plan), findings: [] },
    classes: [{ name: 'fast', driver: 'block.acme.example', parameters: {} }],
    record: { ...cutRecord, volumes },
    ...change,
  });
}

test('a cut says the mode and the delay as well, judged from its records', () => {
  expect(certifiedDisk(cutOf())).toMatchObject({
    disk: { mode: 'ack-early', cutAfter: 10_000 },
    diskFrom: { by: 'cut', storageClass: 'fast', volumes: 1, modes: ['ack-early'] },
  });
});

test('a cut whose plan was changed is refused', () => {
  expect(() => certifiedDisk(cutOf({ planHash: '0' }))).toThrow(/not the one of its hash/);
});
