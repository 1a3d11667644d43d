/** Objects of the small Kubernetes API in memory, and how its driver is told to behave. */

export interface Behaviour {
  readonly attachRequired?: boolean;
  /** After a delete of an attachment; Infinity: the detach hangs. */
  readonly goneAfterMs: number;
  readonly cutAfterMs: number;
  /** Raw volumes are refused. */
  readonly refusesBlock?: boolean;
  /** Pods on the next node never run while the first one has the volume. */
  readonly refusesNext?: boolean;
  /** Pods on the next node run beside the first one, which still has the volume. */
  readonly letsNextIn?: boolean;
  /** No attachment is ever made, though the driver asks for it. */
  readonly makesNoAttachments?: boolean;
  /** Somebody else ends an attachment, just before its writer has written often enough. */
  readonly losesAttachments?: boolean;
  /** After its pod was deleted by force a writer is ended, then its attachment; Infinity: only the latter. */
  readonly killsAfterMs?: number;
  /** Verb and resource that are not allowed, e.g. `delete volumeattachments`; `granted` allows them by name. */
  readonly forbids?: string;
  /** Of all namespaces. */
  readonly pods?: readonly object[];
  /** A namespace that is deleted, and never gone. */
  readonly keeps?: string;
}

export interface Thing {
  metadata: {
    name: string;
    uid: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface Review {
  readonly spec: {
    readonly resourceAttributes: {
      readonly verb: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly name?: string;
    };
  };
}

export interface Attachment {
  readonly spec: { readonly source: { readonly persistentVolumeName: string } };
}

export const driver = 'disk.acme.example';
/** Node → its taints. */
export type Taints = ReadonlyMap<string, readonly object[]>;

/** What is there before anything is made, by its path. */
export function fixedObjects(
  behaviour: Behaviour,
  taints: Taints,
): Readonly<Record<string, object>> {
  const node = (name: string): object => ({
    metadata: { name, resourceVersion: '1' },
    spec: { taints: taints.get(name) ?? [] },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kernelVersion: '6.1', kubeletVersion: 'v1.37.2' },
    },
  });
  const csiNode = (name: string): object => ({
    metadata: { name },
    spec: { drivers: [{ name: driver, nodeID: name }] },
  });
  const storageClass = { metadata: { name: 'fast' }, provisioner: driver };
  return {
    '/storageclasses': { items: [storageClass] },
    '/storageclasses/fast': storageClass,
    [`/csidrivers/${driver}`]: {
      metadata: { name: driver },
      spec: { attachRequired: behaviour.attachRequired ?? true },
    },
    '/csinodes': { items: ['a', 'b'].map(csiNode) },
    '/nodes': { items: ['a', 'b'].map(node) },
    '/nodes/a': node('a'),
    '/nodes/b': node('b'),
    '/pods': { items: behaviour.pods ?? [] },
    '/poddisruptionbudgets': { items: [] },
  };
}

/** As RBAC names what a request asks for: `list pods`, `get pods/log`. */
export function askedFor(method: string, path: string): string {
  const inside = path.replace(/^\/namespaces\/[^/]+(?=\/)/, '');
  const [resource = '', name, subresource] = inside.split('/').filter(Boolean);
  const verbs = { POST: 'create', DELETE: 'delete', PATCH: 'patch' } as const;
  const reading = name === undefined ? 'list' : 'get';
  const verb = method in verbs ? verbs[method as keyof typeof verbs] : reading;
  return `${verb} ${[resource, subresource].filter(Boolean).join('/')}`;
}
