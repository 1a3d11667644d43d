/** Who asked for a link of a licence, in plain words, as far as a record tells. */
import { type ObservationRecord, observed } from '../../history/index.ts';
import type { Passage } from './second-mounts.ts';
import type { Story } from './story.ts';

function asked(wanted: Wanted, seen: ObservationRecord, passage: Passage): string | undefined {
  const { story, mount } = passage;
  const request = requestFor(story, wanted, mount.sinceMs, seen.t);
  return request === undefined ? undefined : told(request, requester(request, story));
}

function told({ data }: ObservationRecord, who: string): string {
  const { gracePeriodS, agent } = data;
  const grace = gracePeriodS === undefined ? '' : `, grace period ${gracePeriodS} s`;
  // A client's program is the part before the version.
  const program = typeof agent === 'string' ? `, by ${agent.split('/')[0]}` : '';
  return `${who}${grace}${program}`;
}

export function whoDeleted(seen: ObservationRecord, passage: Passage): string | undefined {
  const object = String(seen.data.pod);
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
      name === observed.podDisruption && data.uid === mount.podUid && t <= seen.t,
  );
  const isCollected = disruption?.data.reason === 'DeletionByPodGC';
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
      object: String(seen.data.attachment),
    },
    seen,
    passage,
  );

/** What a change must be to be the one that is meant. */
interface Wanted {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  /** Name of the object. */
  readonly object: string;
  readonly fits?: (data: ObservationRecord['data']) => boolean;
}

/** A remedy's own request may come in this much before or after what the run wrote of it. */
const slackMs = 1000;
/** Requests are stamped to the millisecond of another clock. */
const stampMs = 20;

export const hasAudit = ({ observations }: Story): boolean =>
  observations.some(({ name }) => name === observed.apiRequest);

/** The last such request that was granted, from `sinceMs` until the change was seen. */
export const requestFor = (
  { observations }: Story,
  wanted: Wanted,
  sinceMs: number,
  seenMs: number,
): ObservationRecord | undefined =>
  observations.findLast(({ name, t, data }) => {
    if (name !== observed.apiRequest || t < sinceMs - slackMs || t > seenMs + stampMs) return false;
    const { verb, resource, object, code } = data;
    return (
      wanted.verbs.includes(verb) &&
      wanted.resources.includes(resource) &&
      object === wanted.object &&
      Number(code) < 300 &&
      wanted.fits?.(data) !== false
    );
  });

/** Service accounts of kube-system, pkg/controlplane/controller and kubeadm's own. */
const controllers: Readonly<Record<string, string>> = {
  'pod-garbage-collector': 'the pod garbage collector',
  'taint-eviction-controller': 'the taint eviction controller',
  'node-controller': 'the node lifecycle controller',
  'attachdetach-controller': 'the attach/detach controller',
  'statefulset-controller': 'the StatefulSet controller',
  'replicaset-controller': 'the ReplicaSet controller',
};
const kubeSystem = 'system:serviceaccount:kube-system:';
const kubelet = 'system:node:';

/** In plain words; the user's own name stands behind it. */
function requester(request: ObservationRecord, story: Story): string {
  const user = String(request.data.user);
  if (user.startsWith(kubelet)) return `the kubelet of ${user.slice(kubelet.length)}`;
  if (user.startsWith(kubeSystem)) {
    const account = user.slice(kubeSystem.length);
    // It lends its account to the taint eviction controller (newTaintEvictionController).
    if (account === 'node-controller' && request.data.resource === 'pods') {
      return 'the taint eviction controller';
    }
    return controllers[account] ?? `the service account ${account}`;
  }
  if (user.startsWith('system:serviceaccount:')) {
    return `the service account ${user.split(':').at(-1) ?? user}`;
  }
  const remedy = remedyAt(story, request.t);
  return remedy === undefined ? `${user}, who is no controller` : `the operator (remedy ${remedy})`;
}

/** The remedy that was being applied at that moment. */
function remedyAt({ records }: Story, atMs: number): string | undefined {
  const actions = records.filter((record) => record.type === 'action');
  const begun = actions.findLast(
    ({ actor, step, t }) => actor === 'remedy' && step === 'begin' && t <= atMs + slackMs,
  );
  if (begun === undefined) return undefined;
  const done = actions.find(
    ({ actor, name, step, t }) =>
      actor === 'remedy' && name === begun.name && step === 'done' && t >= begun.t,
  );
  return done === undefined || atMs <= done.t + slackMs ? begun.name : undefined;
}
