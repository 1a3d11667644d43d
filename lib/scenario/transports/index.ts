/** The ways from a node to the disk, by name: a new one is a file, and a line here. */
import { type Ends, type TransportDeclaration, transport } from './kind.ts';
import { nbd } from './nbd.ts';

const array = transport({ name: 'array', does: 'by a device of the storage itself' });

const declared = [array, nbd] as const;

export type Transport = (typeof declared)[number]['name'];
export const transportDeclarations: readonly TransportDeclaration<Transport>[] = declared;
export const transports: readonly Transport[] = declared.map(({ name }) => name);

export const transportOf = Object.fromEntries(
  declared.map((each) => [each.name, each]),
) as Readonly<Record<Transport, TransportDeclaration<Transport>>>;

/** Undefined where no network lies between. */
export const endsOf = (name: Transport): Ends | undefined => transportOf[name].ends;
