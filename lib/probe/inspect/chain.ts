/** Who let the second node in: the judge’s own causal chain, on a story that is made of an incident’s records. */
import {
  type ObservationRecord,
  type RunRecord,
  type SmallRecord,
  isObserved,
  observed,
} from '../../history/index.ts';
import { type JudgedDatabase, licencesOf, tellStory } from '../../judge/index.ts';
import { parseScenario } from '../../scenario/index.ts';
import type { Passage, Storage } from './answer.ts';
import type { Place } from './files.ts';
import type { Incident, Sighting, Volume } from './incident.ts';
import { beginOf } from './stints.ts';

export interface ChainStep {
  /** Unix ms. */
  readonly atMs: number;
  readonly step: string;
  readonly by: string | undefined;
  readonly place: Place | undefined;
}

export interface Chain {
  readonly steps: readonly ChainStep[];
  /** Links that must have been there, and no record has. */
  readonly gaps: readonly string[];
}

/** The pod’s own mount follows the volume’s. */
const followMs = 30_000;

interface Told {
  readonly volume: Volume;
  readonly storage: Storage;
  readonly incident: Incident;
  readonly database: JudgedDatabase;
}

export function chainOf({ from, to }: Passage, told: Told): Chain {
  const untilMs = (to.mounts[0]?.atMs ?? beginOf(to)) + followMs;
  const { answered } = from;
  // Its finalizer is gone, and with it the attachment.
  const gone =
    answered?.name === 'attachment-changed' ? [{ ...answered, name: observed.attachmentGone }] : [];
  const seen = [...told.incident.sightings, ...gone]
    .filter(({ volume = told.volume.name, atMs }) => volume === told.volume.name && atMs <= untilMs)
    .filter(({ name, node }) => name !== observed.mounted || node === to.node)
    .toSorted((a, b) => a.atMs - b.atMs);
  const sinceMs = troubleAt(seen, from.node, beginOf(from)) ?? beginOf(to) - 1;
  const { records, places } = recordsOf(seen, sinceMs, from.node, told);
  const { first, later } = licencesOf(tellStory(records, told.database), []);
  const licence = first ?? later[0];
  return {
    steps: (licence?.steps ?? []).map(({ step, by, recordMs = 0 }) => ({
      ...{ step, by, atMs: sinceMs + recordMs - 1 },
      place: places.get(recordMs),
    })),
    gaps: licence?.gaps ?? ['no record shows that the second node mounted the volume'],
  };
}

/** The first sign that the node, or its pod, was given up. */
const troubleAt = (seen: readonly Sighting[], node: string, sinceMs: number): number | undefined =>
  seen.find(
    ({ name, node: of = node, atMs, data }) =>
      of === node &&
      atMs >= sinceMs &&
      (givenUp.has(name) || (name === observed.nodeReady && data['status'] !== 'True')),
  )?.atMs;
const givenUp: ReadonlySet<string> = new Set([
  ...[observed.nodeTaints, observed.nodeGone, observed.attachmentDeleting],
  ...[observed.podTerminating, observed.podGone],
]);

/** The run’s clock begins 1 ms before the first sign; each record has its own time on it, which finds its place. */
function recordsOf(
  seen: readonly Sighting[],
  sinceMs: number,
  node: string,
  { volume, storage }: Told,
): { readonly records: SmallRecord[]; readonly places: ReadonlyMap<number, Place> } {
  const places = new Map<number, Place>();
  const observations = seen.flatMap((each): ObservationRecord[] => {
    const { name, source, place, data } = each;
    if (!isObserved(name)) return [];
    let t = each.atMs - sinceMs + 1;
    while (places.has(t)) t += 0.001;
    places.set(t, place);
    const on = each.node === undefined ? {} : { node: each.node };
    return [{ type: 'observation', t, source, name, ...on, data } as unknown as ObservationRecord];
  });
  const mode = storage.mode === undefined || storage.mode === 'local' ? 'unfenced' : storage.mode;
  const scenario = parseScenario({
    ...{ name: 'inspect', question: 'Who let the second node in?', expected: ['safe'] },
    fault: { kind: 'network-partition' },
    disk: { mode },
    volume: {
      accessMode: volume.accessModes.find((each) => each === 'ReadWriteMany') ?? 'ReadWriteOnce',
    },
  });
  const run: RunRecord = {
    ...({ type: 'run', schemaVersion: 4, basis: 'measured', scenario, t: 0 } as const),
    ...{ runId: 'inspect', seed: '0', backend: 'records', replay: '' },
  };
  const begin = { type: 'action', actor: 'fault', name: 'inspect', step: 'begin' } as const;
  const fault: SmallRecord = { ...begin, node, t: 0.5 };
  const records = [...observations, run, fault].toSorted((a, b) => a.t - b.t);
  return { records, places };
}
