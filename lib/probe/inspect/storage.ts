/** What the storage of a volume does at a detach: as it was measured, or as its documents and the dumps say. */
import type {
  V1CSIDriver,
  V1CSINode,
  V1Node,
  V1Pod,
  V1StorageClass,
} from '@kubernetes/client-node';
import { type DiskMode, driverServing, driversCalled } from '../../scenario/index.ts';
import { driverFacts } from '../facts.ts';
import { documentedMode } from '../predict.ts';
import type { Storage } from './answer.ts';
import type { Incident, Volume } from './incident.ts';

/** `measured`: by a probe of that class. */
export function storageOf(
  { driver = '', storageClass: className }: Volume,
  { objects }: Incident,
  measured?: DiskMode,
): Storage {
  if (measured !== undefined) return { mode: measured, words: 'as you gave it with --disk' };
  if (driver === '') return { mode: undefined, words: 'no dump names its driver' };
  const all = <T>(kind: string): T[] =>
    objects.flatMap(({ object }) => (object.kind === kind ? [object as T] : []));
  const dumped = all<V1StorageClass>('StorageClass').find(
    ({ metadata }) => metadata?.name === className,
  );
  const pods = all<V1Pod>('Pod').filter(({ spec }) => Array.isArray(spec?.containers));
  const facts = {
    ...driverFacts(dumped ?? { provisioner: driver, metadata: { name: className ?? '' } }, {
      ...{ csiNodes: all<V1CSINode>('CSINode'), nodes: all<V1Node>('Node'), pods },
    }),
    csiDriver: all<V1CSIDriver>('CSIDriver').find(
      ({ metadata }) => metadata?.name === driverServing(driver),
    ),
  };
  const { mode, sure, lines } = documentedMode(facts);
  const rows = driversCalled(driver);
  // A setting that is in no dump may make it another kind.
  const unread = rows.flatMap(({ signs, onlyIf }) => [
    ...signs.filter((sign) => sign.mode !== undefined),
    ...(onlyIf === undefined || onlyIf === 'unread' ? [] : [onlyIf]),
  ]);
  const missing = unread.find((sign) =>
    sign.in === 'driverPods' ? facts.driverPods.length === 0 : dumped === undefined,
  );
  const found = lines.find(({ what }) => what === 'predicted mode')?.found ?? 'no document';
  const what = missing?.in === 'driverPods' ? 'pods of the driver' : 'StorageClass';
  const unknown = `${found}; but there is no dump of the ${what}, which may change it`;
  if (missing !== undefined) return { mode: undefined, words: unknown };
  const isSure = sure === 'source' || sure === 'documented' || sure === 'inferred';
  return { mode: isSure ? mode : undefined, words: `${found} (${sure})` };
}
