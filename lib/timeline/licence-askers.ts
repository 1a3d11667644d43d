/** Who asked for a link of a licence, in plain words, as far as a record tells. */
import type { ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import { remedyAt, requester, requestFor, type Wanted } from './requests.ts';
import type { Passage } from './second-mounts.ts';

function asked(wanted: Wanted, seen: ObservationRecord, passage: Passage): string | undefined {
  const { story, mount } = passage;
  const request = requestFor(story, wanted, mount.sinceMs, seen.t);
  return request === undefined ? undefined : told(request, requester(request, story));
}

function told({ data }: ObservationRecord, who: string): string {
  const { gracePeriodS, agent } = data;
  const grace = gracePeriodS === undefined ? '' : `, grace period ${Number(gracePeriodS)} s`;
  // A client's program is the part before the version.
  const program = typeof agent === 'string' ? `, by ${agent.split('/')[0]}` : '';
  return `${who}${grace}${program}`;
}

export function whoDeleted(seen: ObservationRecord, passage: Passage): string | undefined {
  const object = String(seen.data['pod']);
  const pods = { verbs: ['delete', 'deletecollection', 'create'], object };
  return asked({ ...pods, resources: ['pods', 'pods/eviction'], fits: isEnd }, seen, passage);
}

/** A pod's creation is no request to remove it. */
const isEnd = ({ verb, resource }: ObservationRecord['data']): boolean =>
  verb !== 'create' || resource === 'pods/eviction';

/** kubelet, controllers and people end a pod alike; without an audit log its condition may tell. */
export function whoRemoved(seen: ObservationRecord, passage: Passage): string | undefined {
  const { story, mount } = passage;
  const disruption = story.observations.findLast(
    ({ name, t, data }) =>
      name === observed.podDisruption && data['uid'] === mount.podUid && t <= seen.t,
  );
  const isCollected = disruption?.data['reason'] === 'DeletionByPodGC';
  return (
    whoDeleted(seen, passage) ??
    (isCollected ? 'the pod garbage collector' : remedyOf(seen, passage))
  );
}

export function remedyOf({ t }: ObservationRecord, { story }: Passage): string | undefined {
  const remedy = remedyAt(story, t);
  return remedy === undefined ? undefined : `the operator (remedy ${remedy})`;
}

export function whoDeletedNode(seen: ObservationRecord, passage: Passage): string | undefined {
  const wanted = { verbs: ['delete'], resources: ['nodes'], object: passage.mount.from };
  return asked(wanted, seen, passage) ?? remedyOf(seen, passage);
}

export const whoTainted =
  (key: string) =>
  (seen: ObservationRecord, passage: Passage): string | undefined =>
    asked(
      {
        verbs: ['patch', 'update'],
        resources: ['nodes'],
        object: passage.mount.from,
        fits: ({ taints }) => JSON.stringify(taints ?? []).includes(key),
      },
      seen,
      passage,
    );

export const whoDetached = (seen: ObservationRecord, passage: Passage): string | undefined =>
  asked(
    {
      verbs: ['delete', 'deletecollection'],
      resources: ['volumeattachments'],
      object: String(seen.data['attachment']),
    },
    seen,
    passage,
  );
