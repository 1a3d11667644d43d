/** The ways from a node to the disk, by name: a new one is a file, and a line here. */
import {
  type Ends,
  type Revocation as RevocationDeclaration,
  type ServerImage,
  type TransportDeclaration,
  transport,
} from './kind.ts';
import { iscsi } from './iscsi.ts';
import { nbd } from './nbd.ts';
import { nfs } from './nfs.ts';
import { rbd } from './rbd.ts';

const array = transport(
  { name: 'array', does: 'by a device of the storage itself' },
  { hang: { does: 'answers no request any more', worth: 'fenced', victim: 'hangs' } },
);

const declared = [array, nbd, iscsi, rbd, nfs] as const;

export type Transport = (typeof declared)[number]['name'];
export const transportDeclarations: readonly TransportDeclaration<Transport>[] = declared;
export const transports: readonly Transport[] = declared.map(({ name }) => name);

export const transportOf = Object.fromEntries(
  transportDeclarations.map((each) => [each.name, each]),
) as Readonly<Record<Transport, TransportDeclaration<Transport>>>;

type NamesOf<T> = T extends { readonly revocations: infer R } ? keyof R & string : never;
export type Revocation = NamesOf<(typeof declared)[number]>;
export const revocations = [
  ...new Set(declared.flatMap((each) => Object.keys(each.revocations))),
] as readonly Revocation[];

/** The transport's way of a cut. Contradictions hold that it has one of the name. */
export const revocationOf = (disk: {
  readonly transport: Transport;
  readonly revocation: Revocation;
}): RevocationDeclaration =>
  transportOf[disk.transport].revocations[disk.revocation] ?? array.revocations.cut;

/** Whether what the node asks after a cut waits for ever. */
export const hangsWhenCut = (disk: Parameters<typeof revocationOf>[0]): boolean =>
  revocationOf(disk).victim === 'hangs';

/** Images of what runs beside the nodes: an initiator for each, and the array's server. */
export function imagesBeside(name: Transport): ServerImage[] {
  const ends = endsOf(name);
  return ends === undefined ? [] : [...new Set(['initiator' as const, ends.serves ?? 'initiator'])];
}

/** Undefined where no network lies between. */
export const endsOf = (name: Transport): Ends | undefined => transportOf[name].ends;

/** Those with a network between. */
export const networked = transports.filter((name) => endsOf(name) !== undefined);
