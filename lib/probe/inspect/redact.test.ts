/** A redacted folder gives the same answer, and has no name of the original. Drawn names begin with `zq`, as no word of ours does. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { textOf, writeFolder } from '../../../test/support/incident-folder.ts';
import { mysql } from '../../mysql/database.ts';
import { attachmentName } from './incident.ts';
import { inspectFolder } from './inspect.ts';

const folder = mkdtempSync(join(tmpdir(), 'redacted-'));
const [from, out] = [join(folder, 'from'), join(folder, 'out')];
const clear = (): void =>
  [from, out].forEach((path) => rmSync(path, { recursive: true, force: true }));
afterEach(clear);

const label = fc.stringMatching(/^zq[a-z0-9]{3,8}(-[a-z0-9]{1,5}){0,3}$/);
const drawn = fc.record({
  names: fc.uniqueArray(label, { minLength: 12, maxLength: 12 }),
  domain: fc.stringMatching(/^(\.zq[a-z]{3,6}){0,2}$/),
  uids: fc.uniqueArray(fc.uuid(), { minLength: 4, maxLength: 4 }),
  four: fc.ipV4().filter((ip) => ip.length > 9 && !ip.startsWith('198.')),
  six: fc.ipV6().filter((ip) => ip.length > 14 && !ip.startsWith('2001:db8')),
  token: fc.stringMatching(/^zq[A-Za-z0-9+/_.-]{20,40}=$/),
  /** Two could write, or it cannot be told. */
  isBeside: fc.boolean(),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

const at = (time: string): string => `2026-03-01T${time}Z`;

function filesOf({ names, domain, uids, four, six, token, isBeside }: Drawn) {
  const [pv, claim, space, pod, image, user, host, driver, handle, label, ...nodes] = names;
  const [a, b] = nodes.map((name) => name + domain) as [string, string];
  const [one, two, pvUid, podUid] = uids as [string, string, string, string];
  const event = (time: string, reason: string, uid: string, node: string, message = '') => ({
    ...{ kind: 'Event', reason, message },
    metadata: { name: `${pod}.${uid}`, namespace: space, creationTimestamp: at(time) },
    involvedObject: { kind: 'Pod', name: `${pod}-0`, namespace: space, uid },
    source: { component: reason === 'Scheduled' ? 'default-scheduler' : 'kubelet', host: node },
    firstTimestamp: at(time),
  });
  const assigned = (node: string): string => `Successfully assigned ${space}/${pod}-0 to ${node}`;
  const items = [
    {
      ...{
        kind: 'PersistentVolume',
        metadata: { name: pv, uid: pvUid, labels: { [label ?? '']: token } },
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: space, name: claim },
        csi: { driver: `${driver}.zq.example`, volumeHandle: `${handle}/${four}` },
      },
    },
    {
      kind: 'Pod',
      metadata: {
        name: `${pod}-0`,
        namespace: space,
        uid: two,
        annotations: { note: `${user} ${token}` },
      },
      spec: {
        nodeName: b,
        containers: [
          {
            name: 'db',
            image: `${image}.zq.example/mysql:8.4`,
            env: [{ name: 'PASSWORD', value: token }],
          },
        ],
        volumes: [{ persistentVolumeClaim: { claimName: claim } }],
      },
      status: { podIP: six, hostIP: four },
    },
    event('10:00:00', 'Scheduled', one, a, assigned(a)),
    event('10:00:02', 'Started', one, a),
    event('10:20:00', 'Scheduled', two, b, assigned(b)),
    event('10:26:00', 'Started', two, b),
  ];
  const attachment = attachmentName(`${driver}.zq.example^${handle}/${four}`, a);
  const request = (time: string, verb: string, more: object) =>
    JSON.stringify({
      ...{
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Request',
        stage: 'ResponseComplete',
      },
      ...{
        verb,
        user: { username: user, uid: podUid },
        sourceIPs: [four, six],
        userAgent: 'kubectl/v1.34.1',
      },
      ...more,
      ...{
        responseStatus: { code: 200 },
        requestReceivedTimestamp: `${at(time).slice(0, -1)}.123456Z`,
      },
    });
  const mysqld = (time: string, text: string, level = 'System'): string =>
    `${at(`${time}.000000`)} 0 [${level}] [MY-010931] [Server] ${text}\n`;
  return {
    [`${host}/dump.json`]: JSON.stringify({ kind: 'List', items }, undefined, 4),
    'audit.log.gz': gzipSync(
      [
        request('10:19:00', 'delete', {
          objectRef: { resource: 'pods', namespace: space, name: `${pod}-0` },
          requestObject: { gracePeriodSeconds: 0, preconditions: { uid: one } },
        }),
        request('10:25:00', 'delete', {
          objectRef: { resource: 'volumeattachments', name: attachment },
        }),
      ].join('\n'),
    ),
    'attacher.log':
      `I0301 10:25:01.000000       1 csi_handler.go:279] Detached "${attachment}"\n` +
      `{"ts":1772360701000.5,"caller":"csi_handler.go:279","msg":"Detached","VolumeAttachment":"${attachment}","peer":"[${six}]:443","account":1234567890}\n`,
    [`${a}/${space}_${pod}-0_${one}/mysql/0.log`]:
      mysqld('10:00:05', `/usr/sbin/mysqld: ready for connections. Version: 8.4 bind ${four}`) +
      `${at('10:10:00')} [Warning] Access denied for user '${user}'@'${six}' token ${token}\n` +
      (isBeside ? '' : mysqld('10:29:59', `${user} from ${four}: ${token}`, 'ERROR')) +
      mysqld('10:30:00', '/usr/sbin/mysqld: Shutdown complete (mysqld 8.4)'),
    'note.txt': `ask ${user}, ${token}\n`,
  };
}

const secretsOf = ({ names, domain, uids, four, six, token }: Drawn): string[] => [
  ...[...names, ...uids, four, six, token, '1234567890'],
  ...domain.split('.').filter((part) => part !== ''),
];

const inspected = (path: string, more = {}) =>
  inspectFolder({ folder: path, database: mysql, ...more });

test('no drawn name, address or token survives, and the answer is the same', {
  timeout: 120_000,
}, async () => {
  const answers = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async (names) => {
      clear();
      writeFolder(from, filesOf(names));
      const before = await inspected(from, { redact: out });
      const after = await inspected(out);
      answers.add(before.answer);
      expect(after.answer).toBe(before.answer);
      expect(
        after.volumes.map(({ passages }) =>
          passages.map(({ two, chain }) => [two, chain.steps.length]),
        ),
      ).toEqual(
        before.volumes.map(({ passages }) =>
          passages.map(({ two, chain }) => [two, chain.steps.length]),
        ),
      );
      const text = textOf(out);
      expect(secretsOf(names).filter((secret) => text.includes(secret))).toEqual([]);
    }),
    { numRuns: 12 },
  );
  expect([...answers].toSorted()).toEqual(['cannot be told', 'two could write']);
});

test('it writes into no folder that is there', async () => {
  mkdirSync(from);
  mkdirSync(out);
  writeFileSync(
    join(from, 'mysql.log'),
    '2026-03-01T10:00:00Z 0 [System] mysqld: ready for connections\n',
  );
  await expect(inspected(from, { redact: out })).rejects.toMatchObject({
    code: 'OUT_UNUSABLE',
    message: `cannot make the folder ${out}`,
  });
  expect(readdirSync(out)).toEqual([]);
});
