/** The answer of a probe that reads only: what is to be expected, and whether trials could be made. */
import { describeError, ForcedetachError, type UserClients, missingRights } from '../core/index.ts';
import { harnessVersion } from '../kind/index.ts';
import { exampleNamespace } from './objects.ts';
import { predictDriver } from './predict.ts';
import { type Asked, chooseNodes, mustFit, mustHaveAttachments, mustHaveClass } from './refuse.ts';
import { readNeeds, trialNeeds } from './rights.ts';
import type { PredictionReport } from './certificate.ts';
import { gatherFacts, type Facts } from './facts.ts';
import { type TrialPlanRequest, trialPlanOf } from './plan.ts';

/** A volume mode that is left open is shown as Block, which is tried first. */
export interface PredictionOptions
  extends Asked,
    Pick<TrialPlanRequest, 'trials' | 'volumeMode' | 'size' | 'horizonMs' | 'image'> {
  /** Namespace that was given, as for trials. */
  readonly namespace?: string;
}

/**
 * What is to be expected, and whether trials could be made. Makes nothing. Throws as `mustHaveClass` does, and
 * as `answered` (kubernetes-client.ts).
 */
export async function predictionFor(
  clients: UserClients,
  options: PredictionOptions,
): Promise<PredictionReport> {
  const { namespace, storageClass } = options;
  const [facts] = await gatherFacts(clients, storageClass);
  mustHaveClass(facts, options);
  // The name of one of its own is not known before.
  const home = { namespace: namespace ?? exampleNamespace, isGiven: namespace !== undefined };
  return {
    ...{ schemaVersion: 1, kind: 'prediction', forcedetach: harnessVersion() },
    askedAt: new Date().toISOString(),
    ...{ storageClass, driver: facts.driver, kubernetes: facts.kubernetes },
    prediction: predictDriver(facts),
    ...planOrRefusal(facts, options),
    missingRights: await missingRights(clients, [...readNeeds, ...trialNeeds(home)]),
    refused: facts.refused,
  };
}

export function planOrRefusal(
  facts: Facts,
  options: PredictionOptions,
): Pick<PredictionReport, 'plan' | 'refusal'> {
  try {
    mustHaveAttachments(facts);
    const plan = trialPlanOf({ ...options, nodes: chooseNodes(facts, options) });
    mustFit(facts, plan);
    return { plan };
  } catch (error) {
    if (error instanceof ForcedetachError) return { refusal: describeError(error) };
    throw error;
  }
}
