/** What a run asks for and its backend lacks: told before anything is opened. */
import { capabilities, UsageError, typed, releaseOf } from '../../core/index.ts';
import { kindCapabilities, needsOf, type Parts } from '../../run/index.ts';
import { fields, type Scenario } from '../../scenario/index.ts';
import { madeBy, type ImageSource } from '../../kind/index.ts';
import type { BackendChoice } from './backend-choice.ts';

/** Throws UsageError. */
export function refuseUnfit(scenario: Scenario, choice: BackendChoice, parts?: Parts): void {
  if (choice.images !== undefined) releaseOf(scenario.kubernetes, madeBy(choice.images));
  refuseLacking(scenario, choice, parts);
}

/**
 * `source`: whose programs are in the images. The version must be one that clusters are made of.
 * Throws UsageError.
 */
export function refuseUnmeasurable(scenario: Scenario, source: ImageSource): void {
  releaseOf(scenario.kubernetes, source);
  refuseLacking(scenario, { backend: 'kind', capabilities: kindCapabilities(source) });
}

type Chosen = Pick<BackendChoice, 'backend' | 'capabilities'>;

/** Refuses what the backend lacks, which would be ignored without a word. Throws UsageError `NOT_ON_THIS_CLUSTER`. */
export function refuseLacking(
  scenario: Scenario,
  { backend, capabilities: has }: Chosen,
  parts?: Parts,
): void {
  const lacking = needsOf(scenario, parts).filter(({ capability }) => !has.includes(capability));
  if (lacking.length === 0) return;
  const told = lacking.map(
    ({ capability, value, field }) =>
      `✖ ${value}: it cannot ${capabilities[capability].can} (${capability})\n  → at ${fields[field].at}`,
  );
  throw new UsageError(
    'NOT_ON_THIS_CLUSTER',
    `${clusterTitles[backend] ?? backend} cannot play this scenario:\n${told.join('\n')}`,
    {
      hint: 'omit that, or choose another cluster; docs/reference/scenarios.md lists what each needs',
    },
  );
}

const clusterTitles: Readonly<Record<string, string>> = {
  kind: 'the kind cluster',
  sim: 'the model',
};

/** A checker is asked of a group's ledger; all else that a caller brings is made for one server on one volume. Throws UsageError. */
export function refuseOwnWithGroup({ database }: Scenario, own: Parts): void {
  const unfit = Object.keys(own).filter((part) => part !== 'checkers');
  if (database === undefined || unfit.length === 0) return;
  throw new UsageError(
    'OWN_PART_WITH_GROUP',
    `a replication group supports only your own checkers, not ${unfit.join(', ')}`,
    { hint: 'omit it, or test one server' },
  );
}

/** A batch sums up what became of volumes. Throws UsageError. */
export function refuseInBatch({ database }: Scenario): void {
  if (database === undefined) return;
  throw new UsageError('GROUP_IN_BATCH', 'a batch cannot contain replication groups', {
    hint: 'run it alone',
    command: typed('group-replication'),
  });
}
