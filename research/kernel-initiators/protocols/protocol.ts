/** What a storage protocol is to a trial: a server that the lab runs, and how a guest's kernel attaches. */
import { open } from 'node:fs/promises';
import { blockBytes, ringBlocks } from '../../real-storage/token.ts';
import type { KernelLab, LabGuest } from '../lab.ts';

export interface Protocol {
  readonly initiator: string;
  readonly server: string;
  /** Of the initiators' kernel. */
  readonly modules: readonly string[];
  /** What takes A's access away, by name. */
  readonly revocations: readonly string[];
  serve(lab: KernelLab): Promise<Server>;
}

export interface Server {
  /** A blank volume that A and B may attach; what the last trial did is undone. */
  reset(guests: { readonly a: LabGuest; readonly b: LabGuest }): Promise<void>;
  /** Resolves to the device or file that the guest writes to. */
  attach(guest: LabGuest): Promise<string>;
  revoke(how: string): Promise<void>;
  giveBack(how: string): Promise<void>;
  /** Takes the volume away from a guest that writes no more. */
  detach(guest: LabGuest): Promise<void>;
  /** All blocks that they write, as they are on the medium. */
  read(): Promise<Buffer>;
}

const written = (2 * ringBlocks + 1) * blockBytes;

/** Of a volume that is a file of this machine. */
export async function blocksOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(written), 0, written, 0);
  return buffer;
}
