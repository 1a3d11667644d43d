/** Clusters as values: `kind()` measures, `simulated()` predicts. */
import {
  clusterNameRule,
  type FeatureGates,
  isClusterName,
  kubernetesDefault,
  UsageError,
  type ImageSource,
} from '../../core/index.ts';
import { stockTimers, type Settings } from '../../scenario/index.ts';
import { chooseBackend, openBackend, removeCluster, theModel, wishOf } from './backend.ts';
import type { ClusterSource } from './run-plan.ts';

type ClusterFields = Pick<Settings, 'kubernetes'>;

/** Where experiments run. Disposing of it removes what its runs made, unless that is to be kept. */
export interface ClusterUnderTest extends ClusterSource, AsyncDisposable {
  /** Its name. */
  readonly backend: string;
  /** What a scenario takes over from it. */
  readonly fields: ClusterFields;
}

export interface SimulatedOptions {
  /** Default: the newest minor. */
  readonly kubernetes?: string | undefined;
  /** By name, on or off. Default: none is set. */
  readonly featureGates?: FeatureGates | undefined;
  /** Worker nodes, at least 2. Default: 2 on kind, one for each member of a group, 3 on the model. */
  readonly workers?: number;
}

export interface KindOptions extends SimulatedOptions {
  /** Default `auto`: published where a registry answers, else built. */
  readonly images?: 'auto' | ImageSource;
  /** Holds what this checkout would build. Default: official images, or built here. */
  readonly registry?: string;
  /** Default `main`. */
  readonly name?: string;
  /** It stays when this is disposed of, for the next start. Default false. */
  readonly keep?: boolean;
}

/** Throws UsageError `TOO_FEW_WORKERS`. */
function fieldsOf({
  kubernetes: version,
  featureGates,
  workers = 2,
}: SimulatedOptions): ClusterFields {
  if (!Number.isInteger(workers) || workers < 2) {
    const what = `${workers} workers: a run needs a victim and a successor`;
    throw new UsageError('TOO_FEW_WORKERS', what, {
      hint: 'give a whole number of at least 2, or omit it',
    });
  }
  const isSet = version !== undefined || featureGates !== undefined;
  return isSet ? { kubernetes: { version, featureGates } } : {};
}

/** The built-in model: needs nothing, takes seconds; its verdicts are predictions. */
export function simulated(options: SimulatedOptions = {}): Promise<ClusterUnderTest> {
  const { workers } = options;
  return Promise.resolve({
    backend: 'sim',
    fields: fieldsOf(options),
    choose: () => Promise.resolve(theModel('requested')),
    open: (choice) => openBackend(choice, { clusterName: '', workers, keep: false }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/**
 * A real cluster, made at the first run and mended for each next one. From a checkout only. Throws
 * InfrastructureError `NEEDS_CHECKOUT` or `ENGINE_MISSING`, and UsageError.
 */
export async function kind(options: KindOptions = {}): Promise<ClusterUnderTest> {
  const { name = 'main', images = 'auto', registry, workers, keep = false } = options;
  const fields = fieldsOf(options);
  if (!isClusterName(name)) {
    throw new UsageError('CLUSTER_NAME', `\`${name}\` is not a valid cluster name`, {
      hint: `use ${clusterNameRule}`,
    });
  }
  const wish = { cluster: 'kind', images, registry, workers } as const;
  const { kubernetes = kubernetesDefault } = options;
  const forceDetachAfterMs = stockTimers.forceDetachAfter;
  await chooseBackend({ ...wish, forceDetachAfterMs, kubernetes });
  let isUsed = false;
  return {
    backend: 'kind',
    fields,
    choose: (scenario) => chooseBackend({ ...wish, ...wishOf(scenario) }),
    open: (choice) => {
      isUsed = true;
      // Kept from one run to the next.
      return openBackend(choice, { clusterName: name, workers, keep: true });
    },
    async [Symbol.asyncDispose]() {
      if (!isUsed || keep) return;
      await removeCluster(name, (line) => process.emitWarning(line));
    },
  };
}
