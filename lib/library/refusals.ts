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
  if (choice.images !== undefined) releaseOf(scenario.kubernetes, madeBy(choice.images));
  refuseLacking(scenario, choice);
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

/** What a backend lacks would be ignored without a word. Throws UsageError. */
export function refuseLacking(scenario: Scenario, { backend, capabilities }: Chosen): void {
  for (const [capability, refuse] of Object.entries(refusals)) {
    if (!capabilities.some((each) => each === capability))
      refuse(scenario, clusterWords[backend] ?? backend);
  }
}

const clusterWords: Readonly<Record<string, string>> = {
  kind: 'the kind cluster',
  sim: 'the model',
};

type Refuse = (scenario: Scenario, cluster: string) => void;

/** Refusals by the capability that is missing: each throws where the scenario needs it. */
const refusals: Readonly<Record<Exclude<Capability, 'node-shell'>, Refuse>> = {
  provisioner({ provision }, cluster) {
    if (provision !== 'dynamic') return;
    throw new UsageError(
      'PROVISIONER_LACKING',
      `${cluster} has no provisioner that would make the volume: provision dynamic`,
      { hint: 'choose a cluster that has one, as --cluster kind; or leave --provision out' },
    );
  },
  'any-gate'({ featureGates, kubernetes }, cluster) {
    const known = modelledGates(kubernetes);
    const lacking = Object.keys(featureGates).find((name) => !known.includes(name));
    if (lacking === undefined) return;
    throw new UsageError(
      'GATE_LACKING',
      `${cluster} has no feature gate ${lacking} of Kubernetes ${kubernetes}`,
      {
        hint: `choose a cluster that has all, as --cluster kind; it has ${known.join(', ') || 'none'}`,
      },
    );
  },
  'replication-group'({ database }, cluster) {
    if (database !== 'group-replication') return;
    throw new UsageError(
      'GROUP_LACKING',
      `${cluster} plays one server on one volume, and no replication group`,
      { hint: 'choose a cluster that has them, as --cluster kind; or leave --database out' },
    );
  },
  fence({ remedy }, cluster) {
    if (remedy !== 'fence-first') return;
    throw storageCannot(cluster, 'cut a node off', 'remedy fence-first');
  },
  'storage-link'({ link }, cluster) {
    if (link === 'survives') return;
    throw storageCannot(cluster, 'break one node’s way to it', `link ${link}`);
  },
  'power-loss'({ fault }, cluster) {
    if (!losesPower(fault)) return;
    throw storageCannot(cluster, 'lose what was not flushed', `fault ${fault}`);
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

const storageCannot = (cluster: string, what: string, asked: string): UsageError =>
  new UsageError('STORAGE_CANNOT', `the storage of ${cluster} cannot ${what}: ${asked}`, {
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
