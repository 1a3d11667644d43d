/** The answer of a probe that reads only: what is to be expected, and whether trials could be made. */
import { describeError, ForcedetachError } from '../errors.ts';
import { harnessVersion } from '../images/harness-version.ts';
import { missingRights } from '../user-cluster.ts';
import type { ProbeClients } from './clients.ts';
import { gatherFacts, type Facts } from './facts.ts';
import { trialPlanOf, type TrialPlan, type TrialPlanRequest } from './trial-plan.ts';
import type { PredictedMode } from './documented.ts';
import { predictDriver } from './predict.ts';
import { chooseNodes, mustFit, mustHaveAttachments, mustHaveClass, type Asked } from './refuse.ts';
import { readNeeds, trialNeeds } from './rights.ts';
import { exampleNamespace } from './trials/namespace.ts';

/** Version of its form as JSON: it changes where a reader of older ones would err. */
export const predictionVersion = 1;

export interface PredictionReport {
  readonly schemaVersion: typeof predictionVersion;
  readonly kind: 'prediction';
  readonly forcedetach: string;
  readonly askedAt: string;
  readonly storageClass: string;
  readonly driver: string;
  readonly kubernetes: string;
  /** Prediction from a model and from documents: nothing was measured. */
  readonly prediction: PredictedMode;
  /** What trials would do; absent where they would be refused. */
  readonly plan?: TrialPlan;
  /** Why they would be. */
  readonly refusal?: string;
  /** Rights that this or trials need, and the user lacks. */
  readonly missingRights: readonly string[];
  /** What it could not read, and so does not rest on. */
  readonly refused: Facts['refused'];
}

/** A volume mode that is left open is shown as Block, which is tried first. */
export interface PredictionOptions
  extends Asked,
    Pick<TrialPlanRequest, 'trials' | 'volumeMode' | 'size' | 'horizonMs' | 'image'> {
  /** Namespace that was given, as for trials. */
  readonly namespace?: string;
}

/** Makes nothing. Throws as `mustHaveClass` does, and as `answered` (user-cluster.ts). */
export async function predictionFor(
  clients: ProbeClients,
  options: PredictionOptions,
): Promise<PredictionReport> {
  const facts = await gatherFacts(clients, options.storageClass);
  mustHaveClass(facts, options);
  const { namespace } = options;
  // The name of one of its own is not known before.
  const home = { namespace: namespace ?? exampleNamespace, isGiven: namespace !== undefined };
  const missing = await missingRights(clients, [...readNeeds, ...trialNeeds(home)]);
  return {
    ...{ schemaVersion: predictionVersion, kind: 'prediction', forcedetach: harnessVersion() },
    askedAt: new Date().toISOString(),
    storageClass: options.storageClass,
    driver: facts.driver,
    kubernetes: facts.kubernetes,
    prediction: predictDriver(facts),
    ...planOrRefusal(facts, options),
    missingRights: missing,
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
