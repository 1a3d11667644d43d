/** Hand-made folders: what an answer rests on, and what is left of damaged and foreign files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { mysql } from '../../mysql/database.ts';
import { attachmentName } from './incident.ts';
import { inspectFolder } from './inspect.ts';
import { stepsFor } from './words.ts';

const folder = mkdtempSync(join(tmpdir(), 'inspected-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (time: string): string => `2026-03-01T${time}Z`;
const event = (time: string, reason: string, uid: string, node: string, message = '') => ({
  ...{
    kind: 'Event',
    reason,
    message,
    metadata: { name: reason + uid, creationTimestamp: at(time) },
  },
  involvedObject: { kind: 'Pod', name: 'db-0', namespace: 'shop', uid },
  source:
    reason === 'Scheduled'
      ? { component: 'default-scheduler' }
      : { component: 'kubelet', host: node },
  firstTimestamp: at(time),
});
const moved = [
  event('10:00:00', 'Scheduled', 'one', 'a', 'Successfully assigned shop/db-0 to a'),
  event('10:00:02', 'Started', 'one', 'a'),
  event('10:20:00', 'Scheduled', 'two', 'b', 'Successfully assigned shop/db-0 to b'),
  event('10:26:00', 'Started', 'two', 'b'),
];
const volume = {
  ...{ kind: 'PersistentVolume', metadata: { name: 'pv' } },
  spec: {
    accessModes: ['ReadWriteOnce'],
    claimRef: { namespace: 'shop', name: 'data' },
    csi: { driver: 'x.example', volumeHandle: 'v' },
  },
};
const pod = {
  ...{ kind: 'Pod', metadata: { name: 'db-0', namespace: 'shop', uid: 'two' } },
  spec: { nodeName: 'b', volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
};
const dump = (...items: readonly object[]): string =>
  JSON.stringify({ kind: 'List', items }, undefined, 4);
const mysqld = (time: string, text: string, level = 'System'): string =>
  `${at(`${time}.000000`)} 0 [${level}] [MY-010931] [Server] ${text}\n`;
const ready = mysqld('10:00:05', '/usr/sbin/mysqld: ready for connections. Version: 8.4');
const ended = mysqld('10:30:00', '/usr/sbin/mysqld: Shutdown complete (mysqld 8.4)');
const log = 'a/shop_db-0_one/mysql/0.log';
const whole = { 'dump.json': dump(volume, pod, ...moved), [log]: ready + ended };

const inspected = async (files: Readonly<Record<string, string | Buffer>>, more = {}) => {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  return inspectFolder({ folder, database: mysql, ...more });
};
const answerTo = async (files: Readonly<Record<string, string | Buffer>>, more = {}) =>
  (await inspected(files, more)).answer;

test('a clean end of the first server, once the second has the volume, is a write', async () => {
  expect(await answerTo(whole)).toBe('two could write');
});

const server = (text: string): Readonly<Record<string, string>> => ({ ...whole, [log]: text });
test.each([
  ['it failed in between', server(ready + mysqld('10:29:59', 'error', 'ERROR') + ended)],
  [
    'it started again in between',
    server(ready + mysqld('10:29:59', 'starting as process 1') + ended),
  ],
  ['it ended before the second had it', server(ready + ended.replace('10:30', '10:25'))],
  [
    'the clock of its node is not bounded',
    { ...whole, 'dump.json': dump(volume, pod, ...moved.slice(2)) },
  ],
  [
    'no record has the second mount',
    { ...whole, 'dump.json': dump(volume, pod, ...moved.slice(0, 3)) },
  ],
])('it cannot be told if %s', async (_, files) => {
  expect(await answerTo(files)).toBe('cannot be told');
});

test('kubelet’s log shows the unmount', async () => {
  const line = `UnmountDevice succeeded for volume "pv" (UniqueName: "kubernetes.io/csi/x.example^v") on node "a" `;
  const { volumes } = await inspected({
    ...whole,
    'a/kubelet.log': `I0301 10:25:00.000000       9 operation_generator.go:900] ${JSON.stringify(line)}\n`,
  });
  expect(volumes[0]?.stints[0]?.unmounted?.place.file).toBe('a/kubelet.log');
});

test('after an immediate shutdown of PostgreSQL its last words are no write', async () => {
  const line = (time: string, text: string): string => `2026-03-01 ${time} UTC [1] LOG:  ${text}\n`;
  expect(
    await answerTo({
      'dump.json': whole['dump.json'],
      'a/shop_db-0_one/pg/0.log':
        line('10:00:05.000', 'database system is ready to accept connections') +
        line('10:30:00.000', 'received immediate shutdown request') +
        line('10:30:00.100', 'database system is shut down'),
    }),
  ).toBe('cannot be told');
});

const attachment = attachmentName('x.example^v', 'a');
test.each([
  ['text', `I0301 10:24:00.000000       1 csi_handler.go:377] Detached "${attachment}"\n`],
  [
    'text with pairs',
    `I0301 10:24:00.000000       1 csi_handler.go:600] "Detached" VolumeAttachment="${attachment}"\n`,
  ],
  [
    'JSON',
    `{"ts":1772360640000.0,"caller":"csi_handler.go:600","msg":"Detached","VolumeAttachment":"${attachment}"}\n`,
  ],
])('the attacher’s log shows that the driver answered a detach, as %s', async (_, line) => {
  const { volumes } = await inspected({ ...whole, 'attacher.log': `cut\n${line}` });
  const answered = volumes[0]?.stints[0]?.answered;
  expect(answered?.place).toEqual({ file: 'attacher.log', line: 2 });
  expect(answered?.atMs).toBe(Date.parse(at('10:24:00')));
});

test('documents that deny what the records show leave it open', async () => {
  expect(await answerTo(whole, { disk: 'fenced' })).toBe('cannot be told');
});

test('of storage that fences the driver’s answer is missing, of any other a fence', async () => {
  const records = { 'dump.json': whole['dump.json'] };
  for (const [disk, step] of [
    ['fenced', 'Add the log of the CSI attacher.'],
    ['unfenced', 'Probe the storage (docs/how-to/probe.md), and give --disk MODE.'],
  ]) {
    const { volumes } = await inspected(records, { disk });
    expect(stepsFor(volumes.flatMap(({ because }) => because))).toContain(step);
  }
});

test('a checkpoint of PostgreSQL is a write, in a rotated and compressed file', async () => {
  const lines =
    '2026-03-01 10:00:05.000 UTC [1] LOG:  database system is ready to accept connections\n' +
    '2026-03-01 10:30:00.000 UTC [9] LOG:  checkpoint complete: wrote 12 buffers (0.1%)\n';
  expect(
    await answerTo({
      'dump.json': whole['dump.json'],
      'a/shop_db-0_one/pg/0.log.20260301.gz': gzipSync(lines),
    }),
  ).toBe('two could write');
});

test('damaged, cut and foreign files are named with their line, and the rest is used', async () => {
  const found = await inspected({
    ...whole,
    'cut.json': dump(volume, pod, volume).slice(0, -300),
    'cut.gz': gzipSync(ready.repeat(9000)).subarray(0, -40),
    'picture.png': Buffer.from([0x89, 0x50, 0, 0, 1]),
    'audit.log': '{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"Resp\n',
  });
  expect(found.answer).toBe('two could write');
  expect(found.trouble.map(({ file }) => file).toSorted()).toEqual([
    'audit.log',
    'cut.gz',
    'cut.json',
    'picture.png',
  ]);
  expect(found.trouble.find(({ file }) => file === 'audit.log')?.line).toBe(1);
});

test('an empty folder has nothing to inspect', async () => {
  await expect(inspected({ 'note.txt': 'hello\n' })).rejects.toMatchObject({
    code: 'NOTHING_TO_INSPECT',
  });
});
