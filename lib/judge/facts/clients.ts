/** What the clients' answers state of servers, and of the disk under them. */
import { moment } from './changes.ts';
import type { Read } from './evidence.ts';
import { flushedAcks } from './served.ts';

/** Of the node, where an acknowledgement stands for a flush: else the disk may have it later, or never. */
export const acksState =
  (value: string): Read =>
  ({ story, served }) => ({
    statements: flushedAcks(story, served).flatMap(({ node, atMs }) =>
      atMs.map((t) => moment(node, value, t)),
    ),
  });

export const answersOutside: Read = ({ served }) => ({
  statements: served.flatMap(({ server, outsideMs }) =>
    outsideMs.map((t) => moment(server.node, 'answers', t)),
  ),
});
