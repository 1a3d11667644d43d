/** The nodes that the storage knows, as an array knows its hosts: each driver makes its own known. */
import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { CallError } from './grpc.ts';
import { isName, type Layout } from './layout.ts';

const nodePath = (layout: Layout, node: string): string => join(layout.root, 'nodes', node);

/** Idempotent. A node stays known when it dies or is deleted: what it attached is still its. */
export async function registerNode(layout: Layout, node: string): Promise<void> {
  const path = nodePath(layout, node);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '');
}

/** Throws NOT_FOUND for a node whose driver never ran. */
export async function neededNode(layout: Layout, node: string): Promise<void> {
  const known =
    isName(node) &&
    (await access(nodePath(layout, node)).then(
      () => true,
      () => false,
    ));
  if (!known) throw new CallError(status.NOT_FOUND, `there is no node ${node}`);
}
