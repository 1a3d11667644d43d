/** From which nodes a volume can be reached, as its driver and its class say. Pure. */
import type { V1PersistentVolume, V1StorageClass } from '@kubernetes/client-node';
import { InfrastructureError } from '../errors.ts';
import type { NodeFacts } from './facts.ts';

type Labelled = Pick<NodeFacts, 'name' | 'labels' | 'topologyKeys'>;

/** A key whose value is the node itself. A driver that attaches volumes has it to place them, not to bound them. */
export const isOwnTopology = ({ name, labels }: Labelled, key: string): boolean =>
  labels[key] === name || labels[key] === (labels['kubernetes.io/hostname'] ?? name);

/** The same text for nodes that can have the same volumes; '' where the driver has no topology. */
export const topologyOf = (node: Labelled): string =>
  node.topologyKeys
    .filter((key) => !isOwnTopology(node, key))
    .toSorted()
    .map((key) => `${key}=${node.labels[key] ?? 'none'}`)
    .join(', ');

/** Whether the class makes volumes there: one term of `allowedTopologies` has to fit. */
export const isAllowed = (
  { labels }: Labelled,
  { allowedTopologies = [] }: Pick<V1StorageClass, 'allowedTopologies'>,
): boolean =>
  allowedTopologies.length === 0 ||
  allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
  );

/**
 * `labels` of the next pod's node. Throws InfrastructureError `VOLUME_APART` where the volume can't be
 * reached from there: its pod would wait for ever, and nothing could be concluded from that.
 */
export function mustReach(
  volume: V1PersistentVolume | undefined,
  node: string,
  labels: Readonly<Record<string, string>>,
): void {
  const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  if (terms === undefined) return;
  const fits = terms.some(({ matchExpressions = [] }) =>
    matchExpressions.every(
      ({ key, operator, values = [] }) => operator !== 'In' || values.includes(labels[key] ?? ''),
    ),
  );
  if (fits) return;
  const where = terms
    .flatMap(({ matchExpressions = [] }) => matchExpressions)
    .map(({ key, values = [] }) => `${key}=${values.join('|')}`)
    .join(', ');
  throw new InfrastructureError(
    'VOLUME_APART',
    `${node} can't reach the volume ${volume?.metadata?.name}, which is bound to ${where}`,
    {
      hint: 'name two nodes that can reach one volume with --nodes; if none can, it is a volume of one node',
    },
  );
}
