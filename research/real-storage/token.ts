/** What a writer leaves in a block: who wrote it, and which of its writes that was. */

export const blockBytes = 4096;
/** Blocks of each writer's ring. */
export const ringBlocks = 256;
/** Both writers write this one. */
export const sharedBlock = 2 * ringBlocks;
export const volumeBytes = 16 * 1024 * 1024;

/** Above all numbers of a writer until its node is started anew. */
export const afterReboot = 1_000_001;

export const nodes = ['a', 'b'] as const;
export type NodeName = (typeof nodes)[number];

export interface Token {
  readonly node: NodeName;
  /** Counts all writes of a writer from 1. */
  readonly seq: number;
}

const magic = 'FDTOKEN1';
const tokenBytes = 64;
const at = { node: 8, seq: 16 } as const;

/** Block of a ring, or the shared one: a writer takes them by turns. */
export const blockOf = ({ node, seq }: Token): number =>
  seq % 2 === 0 ? sharedBlock : nodes.indexOf(node) * ringBlocks + (((seq - 1) / 2) % ringBlocks);

export function fillBlock(block: Buffer, { node, seq }: Token): void {
  const token = Buffer.alloc(tokenBytes);
  token.write(magic, 'latin1');
  token.write(node, at.node, 'latin1');
  token.writeBigUInt64LE(BigInt(seq), at.seq);
  block.fill(token);
}

/** Undefined where no writer wrote the block. Throws where two writes share it. */
export function tokenIn(block: Buffer): Token | undefined {
  if (block.toString('latin1', 0, magic.length) !== magic) return undefined;
  const first = block.subarray(0, tokenBytes);
  for (let from = tokenBytes; from < block.length; from += tokenBytes) {
    if (!first.equals(block.subarray(from, from + tokenBytes))) throw new Error('a torn block');
  }
  const node = nodes.find((each) => each === block.toString('latin1', at.node, at.node + 1));
  return node && { node, seq: Number(block.readBigUInt64LE(at.seq)) };
}
