/** A run on one server a volume, or on a replication group, and the verdict that is read from its history alone. */
import { EvidenceError, able, describeError } from '../core/index.ts';
import {
  type LedgerRow,
  type ImageLabel,
  openHistory,
  hasQuorum,
  observed,
  routedPrimary,
  type PodRef,
} from '../history/index.ts';
import { judgeImages, assembleVerdict, type Verdict } from '../judge/index.ts';
import { type Testbed, type Disk, type GroupTestbed, openedAlone } from './ports/cluster.ts';
import type { StepsContext, Steps, Tested, RunOptions } from './run-context.ts';
import { recordRun } from './sequence.ts';
import { type DatabaseChoice, groupSettingsOf, heartbeatMs } from '../scenario/index.ts';

/** What copies and audits need of a run. */
export interface ImageRun
  extends Pick<StepsContext<Testbed>, 'database' | 'recorder' | 'onProgress'> {
  readonly testbed: Pick<Testbed, 'clock' | 'auditor'> & { readonly disk: Pick<Disk, 'copy'> };
  readonly scenario: { readonly database: Pick<DatabaseChoice, 'trxCommit'> };
  /** When each copy was begun: what was acknowledged by then must be in it. */
  readonly takenAtMs: Map<ImageLabel, number>;
  readonly signal: AbortSignal;
}

/** With every node that runs frozen for that moment. */
async function takeImage(
  run: ImageRun & Pick<StepsContext<Testbed>, 'testbed'>,
  label: ImageLabel,
): Promise<void> {
  const running: string[] = [];
  for (const node of run.testbed.nodes) {
    if ((await run.testbed.machine(node).state()) === 'running') running.push(node);
  }
  await copyImage(run, label, running);
}

/** With these nodes frozen for that moment. */
export async function copyImage(
  run: ImageRun,
  label: ImageLabel,
  freeze: readonly string[],
): Promise<void> {
  const { testbed, recorder, takenAtMs, database, scenario, signal } = run;
  // What a living server has not synced yet need not be in a copy.
  takenAtMs.set(label, testbed.clock.nowMs() - database.durability.heldBackMs(scenario.database));
  const about = { type: 'action', actor: 'runner', name: `copy ${label} image` } as const;
  recorder.record({ ...about, step: 'begin' });
  const made = await testbed.disk.copy(label, freeze, signal);
  recorder.record({ type: 'copy', image: label, made });
  recorder.record({ ...about, step: 'done' });
}

export async function audit(run: ImageRun, image: ImageLabel): Promise<void> {
  const { testbed, recorder, onProgress, takenAtMs, signal } = run;
  signal.throwIfAborted();
  onProgress(`auditing the ${image} image`);
  const onRow = (row: LedgerRow): void => recorder.record({ type: 'row', image, row });
  const evidence = await testbed.auditor.audit(image, onRow, signal);
  recorder.record({ type: 'image', image, takenAtMs: takenAtMs.get(image) ?? 0, evidence });
}

/** Throws EvidenceError `NOT_STEADY` where the audit of that copy finds trouble. */
async function auditSteady(run: ImageRun & Pick<StepsContext<Testbed>, 'folder'>): Promise<void> {
  await audit(run, 'steady');
  const history = openHistory(run.folder);
  const { findings } = judgeImages(history, {}, { database: run.database });
  const troubles = findings.filter((finding) => finding.level !== 'note');
  for (const { code, summary } of troubles) {
    const message = `${code}: ${summary}`;
    run.recorder.record({ type: 'error', where: 'steady state', message });
  }
  if (troubles.length > 0) {
    throw new EvidenceError('NOT_STEADY', 'the audit found trouble before anything was broken');
  }
}

/** Also a member that gives up after `majorityTimeoutS` must be observed to do so. */
const givesUpWithinMs = 15_000;

export const group: Tested<GroupTestbed> = {
  open: (backend, volumes) =>
    openedAlone<GroupTestbed>((request) => {
      request.recorder.record({
        ...{ type: 'observation', source: 'group', name: observed.groupSettings },
        data: { ...groupSettingsOf(request.scenario) },
      });
      return able(backend, 'backend', ['replication-group']).openGroup(request);
    })(volumes),
  stepsOn: onGroup,
};

/** No image is copied: the ledger is read from the members, while they serve. */
function onGroup(context: StepsContext<GroupTestbed>): Steps {
  const { testbed, scenario } = context;
  const { majorityTimeoutS } = groupSettingsOf(scenario);
  const primary = (): string | undefined => routedPrimary(testbed.views('outside'));
  let broken: string | undefined;
  return {
    isWhole: () => isWhole(testbed),
    async victim() {
      broken = primary();
      const member = broken === undefined ? undefined : testbed.members().get(broken);
      return Promise.resolve(member ?? notSteady());
    },
    breakable: ({ node }) => ({ disk: testbed.disk(node), pods: testbed.kubernetes }),
    handOver: {
      hasHappened: ({ node }) => ![undefined, node].includes(primary()),
      happened: 'another member is the primary',
      none: `no other primary within ${scenario.watch.horizon / 1000} s`,
    },
    leastMs: Math.max(heartbeatMs, majorityTimeoutS * 1000) + givesUpWithinMs,
    async image(label, signal) {
      if (label === 'steady') {
        if (!isWhole(testbed)) notSteady();
      } else if (label === 'first') await readPrimary(context, label, signal, broken);
      else await readAll(context, signal);
    },
    writesOnly: true,
  };
}

function notSteady(): never {
  throw new EvidenceError('NOT_STEADY', 'the group was not whole before anything was broken');
}

/** Every member answers from outside and sees every other one online. */
function isWhole(testbed: GroupTestbed): boolean {
  const views = testbed.views('outside');
  return (
    views.length === testbed.members().size &&
    views.every((view) => hasQuorum(view) && view.members.length === views.length) &&
    views.every(({ members }) => members.every(({ state }) => state === 'ONLINE'))
  );
}

function note(
  { recorder }: StepsContext<GroupTestbed>,
  node: string,
  data: Readonly<Record<string, unknown>>,
): void {
  recorder.record({ type: 'observation', source: 'group', name: observed.ledgerRead, node, data });
}

/** The group's ledger, row by row, from another member than `not`; resolves to its transactions. */
async function readPrimary(
  context: StepsContext<GroupTestbed>,
  image: 'first' | 'second',
  signal: AbortSignal,
  not?: string,
): Promise<{ readonly node: string; readonly gtids: string }> {
  const { testbed, recorder } = context;
  const node = routedPrimary(testbed.views('outside'));
  if (node === undefined || node === not) {
    throw new EvidenceError('NO_PRIMARY', 'no member with a majority reports a primary');
  }
  const takenAtMs = testbed.clock.nowMs();
  const reading = await testbed.readLedger(node, undefined, (row) => {
    // Its segment ends with the run, and what was given up reads on.
    signal.throwIfAborted();
    recorder.record({ type: 'row', image, row });
  });
  signal.throwIfAborted();
  note(context, node, { image, takenAtMs, ...reading });
  return { node, gtids: reading.gtids };
}

/** The primary's ledger, then every other member's against it. */
async function readAll(context: StepsContext<GroupTestbed>, signal: AbortSignal): Promise<void> {
  const { testbed } = context;
  const primary = await readPrimary(context, 'second', signal);
  for (const node of testbed.members().keys()) {
    if (node === primary.node) continue;
    const takenAtMs = testbed.clock.nowMs();
    // One that was thrown out may well refuse to answer: that is its state, and no gap.
    const read = await testbed
      .readLedger(node, primary.gtids, () => signal.throwIfAborted())
      .catch((error: unknown) => ({ error: describeError(error) }));
    signal.throwIfAborted();
    note(context, node, { takenAtMs, ...read });
  }
}

/** Does what `recordRun` does; resolves to the verdict that its history gives. */
export async function runScenario(options: RunOptions): Promise<Verdict> {
  await recordRun(options, oneServer);
  const { database, custom: { checkers = [] } = {} } = options;
  return assembleVerdict(openHistory(options.folder), { database, checkers });
}

export const oneServer: Tested<Testbed> = {
  open: (backend, volumes) => backend.open(volumes),
  stepsOn: onOneVolume,
};

function onOneVolume(context: StepsContext<Testbed>): Steps {
  const { testbed, scenario, sightings, folder } = context;
  const { disk, kubernetes } = testbed;
  const images = { ...context, takenAtMs: new Map<ImageLabel, number>() };
  return {
    victim: async () => {
      const pod = await kubernetes.databasePod();
      return pod ?? noDatabasePod();
    },
    breakable: () => ({ disk, pods: kubernetes }),
    handOver: {
      hasHappened: () => sightings.secondMountAtMs !== undefined,
      none: `no second mount within ${scenario.watch.horizon / 1000} s`,
    },
    leastMs: 0,
    async image(label, signal) {
      const run = { ...images, signal };
      if (label !== 'steady') return takeImage(run, label);
      const pod = await kubernetes.databasePod();
      return copyImage(run, label, pod === undefined ? [] : [pod.node]);
    },
    cold: {
      removeDatabase: () => testbed.removeDatabase(),
      audit: (label, signal) =>
        label === 'steady'
          ? auditSteady({ ...images, signal })
          : audit({ ...images, signal }, label),
      exportWrites: async (signal) => disk.exportWrites?.(folder, signal),
    },
    writesOnly: false,
  };
}

function noDatabasePod(): PodRef {
  throw new EvidenceError('NO_DATABASE_POD', 'no database pod is bound to a node before the fault');
}
