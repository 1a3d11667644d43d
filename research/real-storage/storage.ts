/** The volume of a trial as the array has it, whose log names the node of each write. */
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recordsIn, writeOps } from '../../lib/history/index.ts';
import {
  copyPath,
  defaultRoot,
  askOf,
  layoutOf,
  storageHost,
  volumeFolder,
} from '../../lib/storage/index.ts';
import type { StorageLab } from './lab.ts';
import type { Landed } from './outcome.ts';
import { blockBytes, type NodeName, nodes, tokenIn, volumeBytes } from './token.ts';

export interface TrialStorage {
  /** The node's device, by its initiator. */
  readonly attach: (node: NodeName) => Promise<void>;
  readonly detach: (node: NodeName) => Promise<void>;
  /** Takes the first node's way, as the row has it. */
  readonly revoke: (how: string) => Promise<void>;
  readonly giveBack: (how: string) => Promise<void>;
  /** Without the array's books: as the protocol lets it. */
  readonly connectAgain: (node: NodeName) => Promise<void>;
  /** The volume's bytes, and what landed. Its paths are closed. */
  readonly end: () => Promise<{ readonly image: Buffer; readonly landed: Landed[] }>;
}

const generationOf = (node: NodeName): number => nodes.indexOf(node) + 1;
const pathName = (volume: string, node: NodeName): string =>
  `forcedetach.${volume}.${generationOf(node)}`;

export async function arrayStorage(
  lab: StorageLab,
  volume: string,
  transport: string,
): Promise<TrialStorage> {
  await lab.newVolume(volume);
  const { array } = lab;
  const path = (node: NodeName) => ({ volume, generation: generationOf(node) });
  const connectOf = (node: NodeName): string =>
    lab.ends.connect(storageHost, pathName(volume, node));
  const detach = (node: NodeName): Promise<void> => array.close({ ...path(node), force: true });
  return {
    async attach(node) {
      const about = { node, transport, loop: lab.loopOf(node), connect: connectOf(node) };
      await array.open({ ...path(node), ...about, keepData: true, flushes: 'honest' });
    },
    detach,
    revoke: (how) => array.cut({ ...path('a'), how, why: 'fence' }),
    giveBack: (how) => askOf(lab.layout.arraySocket, { do: 'giveBack', ...path('a'), how }),
    connectAgain: (node) =>
      askOf(lab.initiatorSocket(node), {
        ...{ do: 'connect', name: pathName(volume, node) },
        ...{ connect: connectOf(node), loop: lab.loopOf(node) },
      }),
    async end() {
      for (const node of nodes) await detach(node);
      await mkdir(lab.layout.copies, { recursive: true });
      await array.copy({ volume, to: copyPath(layoutOf(defaultRoot), volume) });
      const folder = volumeFolder(lab.layout, volume);
      const image = readFileSync(copyPath(lab.layout, volume));
      const landed = landedIn(folder);
      await rm(folder, { recursive: true });
      await rm(copyPath(lab.layout, volume));
      return { image, landed };
    },
  };
}

/** Times are of CLOCK_MONOTONIC, as those of the writers. */
export function landedIn(folder: string): Landed[] {
  const log = recordsIn(readFileSync(join(folder, 'writes.log')), {
    ...{ sizeBytes: volumeBytes, originNs: 0n, paths: [] },
  });
  const data = readFileSync(join(folder, 'writes.data'));
  return Array.from({ length: log.length }, (_, index) => index).flatMap((index) => {
    const { op, generation, dataOffset } = log.at(index);
    const node = nodes.find((each) => generationOf(each) === generation);
    if (op !== writeOps.write || node === undefined) return [];
    const token =
      dataOffset === undefined
        ? undefined
        : tokenIn(data.subarray(dataOffset, dataOffset + blockBytes));
    return [{ node, atMs: log.atMs(index), token }];
  });
}
