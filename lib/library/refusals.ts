/** What a run asks for and its backend lacks: told before anything is opened. */
import type { Capability } from '../cluster/capabilities.ts';
import { kindCapabilities } from '../cluster/kind/capabilities.ts';
import { UsageError } from '../errors.ts';
import type { Custom, CustomDatabase } from '../experiment/run/custom.ts';
import { shortenedTimers, type Scenario } from '../experiment/scenario.ts';
import { losesPower } from '../faults/kinds/index.ts';
import { madeBy, type ImageSource } from '../images/image-set.ts';
import { modelledGates, releaseOf } from '../kubernetes-versions.ts';
import type { BackendChoice } from './backend-choice.ts';

/** Throws UsageError. */
export function refuseUnfit(scenario: Scenario, choice: BackendChoice): void {
  if ('images' in choice) releaseOf(scenario.kubernetes, madeBy(choice.images));
  refuseLacking(scenario, choice.capabilities);
}

/**
 * `source`: whose programs are in the images. The version must be one that clusters are made of.
 * Throws UsageError.
 */
export function refuseUnmeasurable(scenario: Scenario, source: ImageSource): void {
  releaseOf(scenario.kubernetes, source);
  refuseLacking(scenario, kindCapabilities(source));
}

/** What a backend lacks would be ignored without a word. Throws UsageError. */
export function refuseLacking(scenario: Scenario, capabilities: readonly Capability[]): void {
  for (const [capability, refuse] of Object.entries(refusals)) {
    if (!capabilities.some((each) => each === capability)) refuse(scenario);
  }
}

/** Refusals by the capability that is missing: each throws where the scenario needs it. */
const refusals: Readonly<Record<Exclude<Capability, 'node-shell'>, (scenario: Scenario) => void>> =
  {
    provisioner({ provision }) {
      if (provision !== 'dynamic') return;
      throw new UsageError(
        'PROVISION_NOT_MODELLED',
        'the model has no provisioner: its volume is there from the start',
        { hint: 'measure it: --cluster kind; or leave --provision out' },
      );
    },
    'any-gate'({ featureGates, kubernetes }) {
      const modelled = modelledGates(kubernetes);
      const unplayed = Object.keys(featureGates).find((name) => !modelled.includes(name));
      if (unplayed === undefined) return;
      throw new UsageError(
        'GATE_NOT_MODELLED',
        `the model of Kubernetes ${kubernetes} does not play the gate ${unplayed}`,
        { hint: `measure it: --cluster kind; it plays ${modelled.join(', ') || 'none'}` },
      );
    },
    'replication-group'({ database }) {
      if (database !== 'group-replication') return;
      throw new UsageError(
        'GROUP_NOT_MODELLED',
        'the model plays one server on one volume, and no replication group',
        { hint: 'measure it: --cluster kind; or leave --database out' },
      );
    },
    fence({ remedy }) {
      if (remedy === 'fence-first') throw storageCannot('cut a node off', 'remedy fence-first');
    },
    'storage-link'({ link }) {
      if (link !== 'survives') throw storageCannot('break one node’s way to it', `link ${link}`);
    },
    'power-loss'({ fault }) {
      if (losesPower(fault)) throw storageCannot('lose what was not flushed', `fault ${fault}`);
    },
    'force-detach-wait'(scenario) {
      if (!shortenedTimers(scenario).includes('forceDetachAfterMs')) return;
      throw new UsageError(
        'FORCE_DETACH_NOT_TUNABLE',
        'published images have the stock controller manager, whose forced-detach wait is compiled in',
        { hint: 'add --images built, or leave --force-detach-after out' },
      );
    },
  };

const storageCannot = (what: string, asked: string): UsageError =>
  new UsageError('STORAGE_CANNOT', `the chosen cluster’s storage cannot ${what}: ${asked}`, {
    hint: 'choose a cluster with our own array, kind or the model, or leave that out',
  });

/** What a caller brings is made for one server on one volume. Throws UsageError. */
export function refuseOwnWithGroup({ database }: Scenario, custom: Custom): void {
  if (database === undefined || Object.keys(custom).length === 0) return;
  throw new UsageError(
    'OWN_PART_WITH_GROUP',
    `nothing of your own goes with a replication group: ${Object.keys(custom).join(', ')}`,
    { hint: 'leave it out, or test one server' },
  );
}

/** A batch sums up what became of volumes. Throws UsageError. */
export function refuseInBatch({ database }: Scenario): void {
  if (database === undefined) return;
  throw new UsageError('GROUP_IN_BATCH', 'a batch has no words for what a replication group does', {
    hint: 'run it alone',
    command: 'npx zx experiments/group-replication.mjs',
  });
}

/** Refuses a caller's own parts. Throws UsageError `NOT_ON_THIS_CLUSTER` where one needs what the backend lacks. */
export function refuseUnable(
  { fault, remedy }: Custom,
  { capabilities }: Pick<BackendChoice, 'capabilities'>,
): void {
  for (const each of [fault, remedy]) {
    const lacking = each?.needs?.find((need) => !capabilities.includes(need));
    if (each === undefined || lacking === undefined) continue;
    throw new UsageError(
      'NOT_ON_THIS_CLUSTER',
      `\`${each.name}\` needs ${lacking}: the chosen cluster has none`,
      { hint: 'measure it on kind(), or use verbs of the port only, which the model plays' },
    );
  }
}

/**
 * A real cluster's clients and audits are programs of their own, in images: what a caller has in his
 * script is not there. Throws UsageError.
 */
export function refuseUnbuilt(
  database: CustomDatabase | undefined,
  backend: BackendChoice['backend'],
): void {
  if (database === undefined || backend === 'sim') return;
  throw new UsageError(
    'DATABASE_NOT_IN_IMAGES',
    `\`${database.name}\` comes from outside: no image has its server, its client and its audit`,
    {
      hint: 'predict it on simulated(); to measure it write it into a checkout: docs/how-to/write-a-database.md',
    },
  );
}
