/** What Kubernetes' witnesses state: watches of its API, the audit log, the controller manager's log. */
import { csiCalls, isGranted, observationsOf } from '../../history/index.ts';
import { type Change, lasting, moment } from './changes.ts';
import { type Statement, unknown } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';

/** From its first observation on; where the API server answers nobody, until that fault. */
function apiSees({ story, watched }: Evidence) {
  const { fault, also } = story.scenario;
  const isOut = fault.kind === 'api-outage' || also.kind === 'api-outage';
  const first = story.observations.find(({ source }) => source === 'api');
  return {
    fromMs: first?.t ?? watched.toMs,
    toMs: isOut ? watched.fromMs : watched.toMs,
  };
}

const watchedStates =
  (read: (evidence: Evidence) => Change[], otherwise?: string): Read =>
  (evidence) => {
    const sees = apiSees(evidence);
    const statements = lasting(read(evidence), sees.toMs).filter(
      ({ fromMs }) => fromMs < sees.toMs,
    );
    return { statements, sees, ...(otherwise === undefined ? {} : { otherwise }) };
  };

/** Whether the node has any of its attachments. */
export const apiAttachments = watchedStates(({ story }) => {
  const attached = new Map<string, Set<string>>();
  return observationsOf(story.observations, 'attachment-attached', 'attachment-gone').map(
    ({ name, node = '?', t, data }): Change => {
      const on = attached.get(node) ?? new Set();
      attached.set(node, on);
      if (name === 'attachment-attached') on.add(data.attachment);
      else on.delete(data.attachment);
      return { item: node, value: on.size > 0 ? 'attached' : 'not attached', atMs: t };
    },
  );
}, 'not attached');

export const apiAttachmentObjects = watchedStates(
  ({ story }) =>
    observationsOf(story.observations, 'attachment-created', 'attachment-gone').map(
      ({ name, t, data }): Change => ({
        ...{ item: data.attachment, atMs: t },
        value: name === 'attachment-created' ? 'there' : 'gone',
      }),
    ),
  'gone',
);

export const apiPods = watchedStates(
  ({ story }) =>
    observationsOf(story.observations, 'pod-created', 'pod-gone').map(
      ({ name, t, data }): Change => ({
        ...{ item: `pod ${data.uid}`, atMs: t },
        value: name === 'pod-created' ? 'there' : 'gone',
      }),
    ),
  'gone',
);

/** Two pods of one name are there one after the other. */
export const apiPodNames: Read = (evidence) => {
  const sees = apiSees(evidence);
  const { observations } = evidence.story;
  const gone = observationsOf(observations, 'pod-gone');
  const statements = observationsOf(observations, 'pod-created').map(
    ({ t, data: { pod, uid } }): Statement => ({
      ...{ item: `the pod ${pod}`, value: uid, fromMs: t },
      toMs: gone.find(({ data }) => data.uid === uid)?.t ?? sees.toMs,
    }),
  );
  return { statements, sees };
};

export const apiNodes = watchedStates(({ story }) =>
  observationsOf(story.observations, 'node-ready', 'node-gone').map(
    ({ node = '?', t, data }): Change => ({
      ...{ item: node, atMs: t },
      value: data.status === 'True' ? 'ready' : 'lost',
    }),
  ),
);

/** A node that is deleted takes its taints along. */
export const apiTaints = watchedStates(({ story }) =>
  observationsOf(story.observations, 'node-taints', 'node-gone').map(
    ({ node = '?', t, data }): Change => ({
      ...{ item: node, atMs: t },
      value: (data.taints ?? []).some((taint) => taint.startsWith(unreachable)) ? 'lost' : unknown,
    }),
  ),
);
const unreachable = 'node.kubernetes.io/unreachable';

// The audit log: a request is dated when it was answered.

const requests = ({ story }: Evidence, resource: string, verbs: readonly string[]) =>
  observationsOf(story.observations, 'api-request').filter(
    ({ data }) =>
      data.resource === resource && verbs.includes(data.verb) && (data.code ?? 200) < 300,
  );

/** Of this volume's attachments, whose names only the API's observer has. */
export const auditAttachments: Read = (evidence) => {
  const attached = observationsOf(evidence.story.observations, 'attachment-created');
  const own = new Set(attached.map(({ data }) => data.attachment));
  return {
    statements: requests(evidence, 'volumeattachments', ['create', 'delete'])
      .filter(({ data }) => data.object !== undefined && own.has(data.object))
      .map(({ t, data }) => moment(data.object ?? '', 'there', t)),
  };
};

export const auditPods: Read = (evidence) => ({
  statements: requests(evidence, 'pods', ['delete']).flatMap(({ t, data }) =>
    data.uid === undefined ? [] : [moment(`pod ${data.uid}`, 'there', t)],
  ),
});

/** A kubelet has the volume mounted for a pod that is there. */
export const kubeletPods: Read = ({ story }) => ({
  statements: story.observations.filter(isGranted(csiCalls.nodePublish)).flatMap(({ t, data }) => {
    const { targetPath } = (data.request ?? {}) as { readonly targetPath?: string };
    const uid = /\/pods\/([^/]+)\//.exec(targetPath ?? '')?.[1];
    return uid === undefined ? [] : [moment(`pod ${uid}`, 'there', t)];
  }),
});

/** The line comes right before the VolumeAttachment is deleted; the driver may be asked late. */
const beforeDetachMs = 30_000;

export const managerDetaches: Read = ({ story, watched }) => {
  const lines = observationsOf(story.observations, 'force-detach-log');
  const nodes = new Set(story.observations.flatMap(({ node }) => node ?? []));
  const statements = lines.flatMap(({ t, data }) =>
    [...nodes]
      .filter((node) => !data.line.includes('node=') || data.line.includes(`node="${node}"`))
      .map((item): Statement => {
        const span = { fromMs: t - beforeDetachMs, toMs: watched.toMs };
        return { item, value: unknown, ...span };
      }),
  );
  return { statements, otherwise: 'orderly' };
};
