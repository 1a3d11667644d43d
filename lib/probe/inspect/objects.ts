/** Objects of the Kubernetes API in a dump: as far as it is whole, and those parts that count, checked. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const maybe = <T extends z.ZodType>(of: T) => of.nullish().transform((value) => value ?? undefined);
const text = maybe(z.string());
const part = <T extends z.ZodRawShape>(shape: T) => maybe(z.looseObject(shape));
const list = <T extends z.ZodType>(of: T) => maybe(z.array(of)).transform((value) => value ?? []);

const condition = z.looseObject({
  ...{ type: text, status: text, reason: text, lastTransitionTime: text },
});
const started = part({ startedAt: text });
const container = { state: part({ running: started }), lastState: part({ terminated: started }) };

/** Of all kinds together: each has some of them. */
const objectSchema = z.looseObject({
  kind: z.enum([
    ...(['Node', 'Pod', 'PersistentVolume', 'PersistentVolumeClaim', 'VolumeAttachment'] as const),
    ...(['Event', 'CSIDriver', 'CSINode', 'StorageClass'] as const),
  ]),
  metadata: z.looseObject({
    name: z.string(),
    ...{ namespace: text, uid: text, creationTimestamp: text, deletionTimestamp: text },
    deletionGracePeriodSeconds: z.number().nullish(),
  }),
  spec: part({
    ...{ nodeName: text, volumeName: text, storageClassName: text },
    accessModes: list(z.string()),
    csi: part({ driver: z.string(), volumeHandle: z.string() }),
    claimRef: part({ namespace: text, name: text }),
    source: part({ persistentVolumeName: text }),
    taints: list(z.looseObject({ key: z.string(), effect: text, timeAdded: text })),
    volumes: list(z.looseObject({ persistentVolumeClaim: part({ claimName: text }) })),
  }),
  status: part({
    conditions: list(condition),
    containerStatuses: list(z.looseObject(container)),
    volumesAttached: list(z.looseObject({ name: z.string() })),
    volumesInUse: list(z.string()),
  }),
  // Of an Event.
  ...{ reason: text, message: text, firstTimestamp: text, eventTime: text },
  ...{ reportingComponent: text, reportingInstance: text },
  involvedObject: part({ kind: text, name: text, namespace: text, uid: text }),
  source: part({ component: text, host: text }),
});
export type ReadObject = z.output<typeof objectSchema>;
export type Kind = ReadObject['kind'];

/** Undefined: it is of another kind. */
export function checkedObject(
  item: KubernetesObject,
): { readonly object: ReadObject } | { readonly problem: string } | undefined {
  if (!objectSchema.shape.kind.safeParse(item.kind).success) return undefined;
  const { data, error } = objectSchema.safeParse(item);
  if (data !== undefined) return { object: data };
  return { problem: `a ${item.kind} is not valid: ${error?.issues[0]?.path.join('.')}` };
}

export interface ItemsRead {
  readonly items: readonly KubernetesObject[];
  readonly problem?: { readonly line: number; readonly what: string };
}

export const itemsIn = (text: string, form: 'json' | 'yaml'): ItemsRead =>
  form === 'json' ? jsonItems(text) : yamlItems(text);

function jsonItems(text: string): ItemsRead {
  try {
    return { items: flattened([JSON.parse(text)]) };
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const line = Number(/line (\d+)/.exec(message)?.[1] ?? text.split('\n').length);
    // kubectl indents each object of a list alike: those before the cut are whole.
    const whole = text.match(/^ {8}\{$[\s\S]*?^ {8}\}/gm) ?? [];
    const items = whole.flatMap((part): unknown[] => {
      try {
        return [JSON.parse(part)];
      } catch {
        return [];
      }
    });
    return {
      items: flattened(items),
      problem: { line, what: `is cut or damaged: ${items.length} objects before that are read` },
    };
  }
}

function yamlItems(text: string): ItemsRead {
  const documents = parseAllDocuments(text, { logLevel: 'silent', uniqueKeys: false });
  if ('empty' in documents) return { items: [] };
  const [error] = documents.flatMap(({ errors }) => errors);
  const whole = flattened(
    documents.map((document) => document.toJS({ maxAliasCount: 100 }) as unknown),
  );
  if (error === undefined) return { items: whole };
  const items = whole.slice(0, -1);
  const line = error.linePos?.[0].line ?? 1;
  return { items, problem: { line, what: `is cut or damaged: ${items.length} objects are read` } };
}

function flattened(documents: readonly unknown[]): KubernetesObject[] {
  return documents.flatMap((each): KubernetesObject[] => {
    if (typeof each !== 'object' || each === null) return [];
    const { items, kind = '' } = each as { readonly items?: unknown; readonly kind?: string };
    if (!Array.isArray(items)) return [each];
    // A list of one kind, as the API gives it, does not repeat it in each.
    const of = kind.replace(/List$/, '');
    return flattened(items).map((item) => ({ ...item, kind: item.kind ?? of }));
  });
}

export function linesOfUids(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, text] of lines.entries()) {
    const uid = /^\s*"?uid"?: "?([\w-]+)/.exec(text)?.[1];
    if (uid !== undefined && !found.has(uid)) found.set(uid, index + 1);
  }
  return found;
}
