/** A run on a replication group: what the one sequence needs of three servers that read alike. */
import { able, describeError, EvidenceError } from '../core/index.ts';
import { type GroupTestbed, openedAlone } from './ports/cluster.ts';
import { hasQuorum, routedPrimary } from '../history/index.ts';
import { groupSettingsOf, heartbeatMs } from '../scenario/index.ts';
import type { Steps, StepsContext, Tested } from './steps.ts';
import { groupObserved } from '../judge/index.ts';

/** Also a member that gives up after `majorityTimeoutS` must be observed to do so. */
const givesUpWithinMs = 15_000;

export const group: Tested<GroupTestbed> = {
  open: (backend, volumes) =>
    openedAlone<GroupTestbed>((request) => {
      request.recorder.record({
        ...{ type: 'observation', source: 'group', name: groupObserved.settings },
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
      none: `no other primary within ${scenario.horizonMs / 1000} s`,
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
  recorder.record({ type: 'observation', source: 'group', name: groupObserved.ledger, node, data });
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
    throw new EvidenceError('NO_PRIMARY', 'no member with a majority says who the primary is');
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
