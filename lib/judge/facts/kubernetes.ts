/** What Kubernetes' witnesses state: watches of its API, the audit log, the controller manager's log. */
import { isLossTaint } from '../../core/index.ts';
import { csiCalls, isGranted, observationsOf } from '../../history/index.ts';
import { silencesApi } from '../../scenario/index.ts';
import { isPredicted } from './run.ts';
import { type Change, lasting, moment, whileAny } from './changes.ts';
import { type Span, type Statement, unknown } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';

/** From its first observation on; where the API server answers nobody, until that fault. */
function apiSees({ story, watched }: Evidence) {
  const { fault, also } = story.scenario;
  const isOut = silencesApi(fault.kind) || silencesApi(also.kind);
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
export const apiAttachments = watchedStates(
  ({ story }) =>
    whileAny(
      observationsOf(story.observations, 'attachment-attached', 'attachment-gone').map(
        ({ name, node = '?', t, data }) => ({
          ...{ item: node, member: data.attachment, atMs: t },
          comes: name === 'attachment-attached',
        }),
      ),
      ['attached', 'not attached'],
    ),
  'not attached',
);

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
    ({ name, node = '?', t, data }): Change => ({
      ...{ item: node, atMs: t },
      value: name === 'node-gone' ? unknown : taintedAs(data.taints ?? []),
    }),
  ),
);
const taintedAs = (taints: readonly string[]): string =>
  taints.some(isLossTaint) ? 'lost' : 'ready';

// The audit log: a request is dated when it was answered.

/** A model has neither an audit log nor a kubelet's paths. */
const isReal = ({ story }: Evidence): boolean => !isPredicted(story.run);

const requests = ({ story }: Evidence, resource: string, verbs: readonly string[]) =>
  observationsOf(story.observations, 'api-request').filter(
    ({ data }) =>
      data.resource === resource && verbs.includes(data.verb) && (data.code ?? 200) < 300,
  );

/**
 * Of this volume's attachments, whose names only the API's observer has. A name is that of a node and a volume: it
 * may come again. A finalizer may hold one back.
 */
export const auditAttachments: Read = (evidence) => {
  const { story, watched } = evidence;
  if (!isReal(evidence)) return undefined;
  const named = observationsOf(
    story.observations,
    ...(['attachment-created', 'attachment-attached', 'attachment-gone'] as const),
  );
  const names = new Set(named.map(({ data }) => data.attachment));
  const asked = requests(evidence, 'volumeattachments', ['create', 'delete']);
  const changes = [...names].flatMap((item): Change[] => {
    const own = asked.filter(({ data }) => data.object === item);
    const wasThere = own[0]?.data.verb !== 'create';
    return [
      { item, value: wasThere ? 'there' : 'gone', atMs: 0 },
      ...own.map(
        ({ t, data }): Change => ({
          ...{ item, atMs: t },
          value: data.verb === 'create' ? 'there' : unknown,
        }),
      ),
    ];
  });
  return { statements: lasting(changes, watched.toMs) };
};

const creationOf = (pod: string): string => `creation of ${pod}`;
const deletionOf = (pod: string): string => `deletion of ${pod}`;

/** A pod is created, or begins to end, because somebody asked for it. */
export const apiPodChanges: Read = ({ story, watched }) => ({
  statements: observationsOf(story.observations, 'pod-created', 'pod-terminating')
    .filter(({ t }) => t >= watched.fromMs)
    .map(({ name, t, data }) =>
      moment(name === 'pod-created' ? creationOf(data.pod) : deletionOf(data.pod), 'asked', t),
    ),
});

export const auditPodRequests: Read = (evidence) => {
  if (!isReal(evidence)) return undefined;
  const created = observationsOf(evidence.story.observations, 'pod-created');
  const names = [...new Set(created.map(({ data }) => data.pod))];
  const windows = (of: (pod: string) => string, resource: string, verb: string): Statement[] =>
    requests(evidence, resource, [verb]).flatMap(({ t, data }) =>
      names
        .filter((pod) => data.object === undefined || data.object === pod)
        .map((pod) => around(of(pod), t)),
    );
  return {
    statements: [
      ...windows(creationOf, 'pods', 'create'),
      ...windows(deletionOf, 'pods', 'delete'),
      ...windows(deletionOf, 'pods/eviction', 'create'),
    ],
    otherwise: 'not asked',
  };
};

/** What was granted came about: a pod is there, or begins to end. */
export const auditGrants: Read = (evidence) => {
  const granted = (of: (pod: string) => string, verb: string): Statement[] =>
    requests(evidence, 'pods', [verb]).flatMap(({ t, data: { object } }) =>
      t < evidence.watched.fromMs || object === undefined ? [] : [moment(of(object), 'asked', t)],
    );
  return { statements: [...granted(creationOf, 'create'), ...granted(deletionOf, 'delete')] };
};

export const apiAnswers: Read = (evidence) => {
  const sees = apiSees(evidence);
  const { observations } = evidence.story;
  const ends = observationsOf(observations, 'pod-terminating', 'pod-gone');
  const goneMs = (uid: string): number =>
    ends.find(({ name, data }) => name === 'pod-gone' && data.uid === uid)?.t ?? sees.toMs;
  const statements = [
    ...observationsOf(observations, 'pod-created').map(({ t, data }) =>
      around(creationOf(data.pod), t),
    ),
    // It may be asked for again until the pod is gone.
    ...ends.map(
      ({ t, data }): Statement => ({
        ...around(deletionOf(data.pod), t),
        toMs: goneMs(data.uid) + aroundMs,
      }),
    ),
  ];
  return { statements, otherwise: 'nothing', sees };
};

/** What a request leads to is reported within so much of it. */
const aroundMs = 30_000;
const around = (item: string, atMs: number): Statement => ({
  ...{ item, value: unknown, fromMs: atMs - aroundMs, toMs: atMs + aroundMs },
});

export const auditPods: Read = (evidence) => ({
  statements: requests(evidence, 'pods', ['delete']).flatMap(({ t, data }) =>
    data.uid === undefined ? [] : [moment(`pod ${data.uid}`, 'there', t)],
  ),
});

// A pod has one node for ever.

const podOn = (watched: Span, uid: string, node: string): Statement => ({
  ...{ item: `pod ${uid}`, value: node, fromMs: 0, toMs: watched.toMs },
});

export const apiPodNodes: Read = ({ story, watched }) => ({
  statements: observationsOf(
    story.observations,
    ...(['pod-scheduled', 'pod-running', 'pod-ready', 'pod-gone'] as const),
  ).flatMap(({ node, data }) => (node === undefined ? [] : [podOn(watched, data.uid, node)])),
});
export const servedPodNodes: Read = ({ served, watched }) => ({
  statements: served.map(({ server }) => podOn(watched, server.podUid, server.node)),
});
export const kubeletPodNodes: Read = ({ story, watched }) => ({
  statements: publishedPods(story).flatMap(({ uid, node }) =>
    node === undefined ? [] : [podOn(watched, uid, node)],
  ),
});

/** A kubelet has the volume mounted for a pod that is there. */
export const kubeletPods: Read = ({ story }) => ({
  statements: publishedPods(story).map(({ uid, t }) => moment(`pod ${uid}`, 'there', t)),
});

/** A pod that runs has been given its volume. Of pods from before the fault that may be on no record. */
export const apiPodsRun: Read = ({ story, watched }) => {
  const created = observationsOf(story.observations, 'pod-created').filter(
    ({ t }) => t >= watched.fromMs,
  );
  return {
    statements: observationsOf(story.observations, 'pod-running')
      .filter(({ data }) => created.some((each) => each.data.uid === data.uid))
      .map(({ t, data }) => moment(`pod ${data.uid}`, 'given', t)),
  };
};

/** From when on it is known to have run. */
export const apiPodsRunning = watchedStates(
  ({ story }) =>
    observationsOf(story.observations, 'pod-running').map(
      ({ t, data }): Change => ({ item: `pod ${data.uid}`, value: 'ran', atMs: t }),
    ),
  'never ran',
);
export const servedPods: Read = ({ served }) => ({
  statements: served.flatMap(({ server, ackedMs }) =>
    ackedMs.map((t) => moment(`pod ${server.podUid}`, 'ran', t)),
  ),
});

export const kubeletGives: Read = (evidence) => {
  const { story, watched } = evidence;
  if (!isReal(evidence)) return undefined;
  const changes = publishedPods(story).map(
    ({ uid, t }): Change => ({ item: `pod ${uid}`, value: 'given', atMs: t }),
  );
  return { statements: lasting(changes, watched.toMs), otherwise: 'not given' };
};

const publishedPods = ({ observations }: Evidence['story']) =>
  observations.filter(isGranted(csiCalls.nodePublish)).flatMap(({ t, node, data }) => {
    const { targetPath } = (data.request ?? {}) as { readonly targetPath?: string };
    const uid = /\/pods\/([^/]+)\//.exec(targetPath ?? '')?.[1];
    return uid === undefined ? [] : [{ uid, t, node }];
  });

/** The line comes right before the VolumeAttachment is deleted; the driver may be asked late. */
export const managerDetaches: Read = ({ story, watched }) => {
  const lines = observationsOf(story.observations, 'force-detach-log');
  const nodes = new Set(story.observations.flatMap(({ node }) => node ?? []));
  const statements = lines.flatMap(({ t, data }) =>
    [...nodes]
      .filter((node) => !data.line.includes('node=') || data.line.includes(`node="${node}"`))
      .map((item): Statement => ({ ...around(item, t), toMs: watched.toMs })),
  );
  return { statements, otherwise: 'orderly' };
};
