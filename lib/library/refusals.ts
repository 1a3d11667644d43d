/** What a scenario asks for and its backend can't do: told before anything is created. */
import { UsageError } from '../errors.ts';
import type { CustomDatabase } from '../experiment/custom.ts';
import { shortenedTimers, type Scenario } from '../experiment/scenario.ts';
import { madeBy, type ImageSource } from '../images/image-set.ts';
import { modelledGates, releaseOf } from '../kubernetes-versions.ts';
import type { BackendChoice } from './backend-choice.ts';

/** Throws UsageError. */
export function refuseUnfit(scenario: Scenario, choice: BackendChoice): void {
  if (choice.backend === 'sim') refuseUnmodelled(scenario);
  else refuseUnmeasurable(scenario, madeBy(choice.images));
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

/**
 * What the model does not play would be ignored without a word: a gate, or a provisioner, whose work is
 * done before the model begins. Throws UsageError.
 */
export function refuseUnmodelled({ featureGates, kubernetes, provision }: Scenario): void {
  if (provision === 'dynamic') {
    throw new UsageError(
      'PROVISION_NOT_MODELLED',
      'the model has no provisioner: its volume is there from the start',
      { hint: 'measure it: --cluster kind; or leave --provision out' },
    );
  }
  const unplayed = Object.keys(featureGates).find(
    (name) => !modelledGates(kubernetes).includes(name),
  );
  if (unplayed === undefined) return;
  throw new UsageError(
    'GATE_NOT_MODELLED',
    `the model of Kubernetes ${kubernetes} does not play the gate ${unplayed}`,
    {
      hint: `measure it: --cluster kind; it plays ${modelledGates(kubernetes).join(', ') || 'none'}`,
    },
  );
}

/**
 * `source`: whose programs are in the images. The version must be one that clusters are made of. The forced-detach wait is compiled in: only the
 * controller manager built here can change it.
 */
export function refuseUnmeasurable(scenario: Scenario, source: ImageSource): void {
  releaseOf(scenario.kubernetes, source);
  if (source !== 'published' || !shortenedTimers(scenario).includes('forceDetachAfterMs')) return;
  throw new UsageError(
    'FORCE_DETACH_NOT_TUNABLE',
    'published images have the stock controller manager, whose forced-detach wait is compiled in',
    { hint: 'add --images built, or leave --force-detach-after out' },
  );
}
