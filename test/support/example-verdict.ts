/** The verdict of the made-up history (example-history.ts). Its numbers come from no run. */
import { mysql } from '../../lib/mysql/database.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';

export const exampleScenario = parseScenario({
  name: 'network-partition',
  question: 'Made up for tests: does a second node get to write?',
  fault: { kind: 'network-partition' },
  remedy: { kind: 'force-delete' },
  expected: ['lost', 'corrupt'],
});

export const exampleVerdict: Verdict = {
  schemaVersion: 1,
  sentence: `Made up: Kubernetes let example-worker2 write 361.6 s after the force-delete while example-worker was still writing, for 31 s: 59 of 1,258 acknowledged commits lost; no ${mysql.title} or fsck check noticed.`,
  verdict: 'lost',
  safety: 'lost',
  complete: true,
  incompleteBecause: [],
  reasons: [],
  expected: ['lost', 'corrupt'],
  asExpected: true,
  serving: { expected: 'open', because: 'made up', served: true, asExpected: true },
  basis: 'measured',
  noticed: 'silent',
  notices: [],
  refusedMounts: [],
  availability: { downtimeMs: 416_100, recovered: true },
  exposure: { ms: 31_000, bytesVictim: 1_523_712, bytesSuccessor: 737_280 },
  loss: {
    beforeFault: { acked: 200, lost: 0 },
    victimBeforeHandover: { acked: 828, lost: 0 },
    victimAfterHandover: { acked: 62, lost: 59 },
    successor: { acked: 168, lost: 0 },
  },
  acked: 1258,
  lost: 59,
  missing: {
    unreadableBeforeHeal: { count: 0, of: 1258 },
    lost: { count: 59, of: 1258 },
    afterHeal: { count: 59, of: 1258 },
  },
  images: [
    { image: 'first', acked: 1258, lost: 59, readable: true },
    { image: 'second', acked: 1258, lost: 59, readable: true },
  ],
  phases: {
    notReady: 48.2,
    evicted: 52.1,
    podRemoved: 52.6,
    detached: 412.8,
    attached: 413.5,
    secondMount: 414.2,
    recovered: 415.6,
    firstCommit: 416,
  },
  horizonS: 900,
  licence: [
    { atS: 52.4, step: 'the operator force-deletes the pod', source: 'remedy', evidence: 'DELETE' },
    {
      atS: 412.6,
      step: 'the controller manager stops waiting for the unmount',
      source: 'controller-manager',
      evidence: 'maxWaitForUnmountDuration expired, force detaching',
    },
    { atS: 412.7, step: 'the driver answers the detach', source: 'csi', evidence: 'Unpublish: OK' },
    { atS: 414.2, step: 'the successor mounts the volume', source: 'mounts', evidence: 'loop120' },
  ],
  licenceGaps: [],
  laterLicences: [],
  findings: [
    {
      code: 'LEDGER_LOST',
      level: 'damage',
      safety: 'lost',
      loud: false,
      summary: '59 acknowledged commits are missing from the first image',
      evidence: [
        'inside/0/0/932 acknowledged at 416.2 s',
        'inside/0/0/933 acknowledged at 416.7 s',
      ],
    },
    {
      code: 'FSCK_CLEAN',
      level: 'note',
      safety: 'safe',
      loud: false,
      summary: 'e2fsck finds nothing to say',
      evidence: ['e2fsck -fn: exit 0'],
    },
  ],
  certificates: [
    {
      fault: 'network-partition',
      moment: 'during',
      claim: 'the victim does not reach the API server',
      holds: true,
      evidence: 'made up',
    },
  ],
  timers: { nodeMonitorGraceMs: 50_000, tolerationMs: 300_000, forceDetachAfterMs: 360_000 },
  versions: { kubernetes: 'made up', [mysql.name]: 'made up' },
  scenario: exampleScenario,
  seed: 'example',
  runId: 'example0',
  replay: 'npx zx experiments/network-partition.mjs --cluster kind --seed example',
  cluster: 'kind',
};
