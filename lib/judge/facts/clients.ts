/** What the clients' answers state of servers, and of the disk under them. */
import { isDirectory } from '../../scenario/index.ts';
import { moment } from './changes.ts';
import type { Read } from './evidence.ts';
import { flushedAcks } from './served.ts';

export const acksOpen: Read = ({ story, served }) => ({
  statements: flushedAcks(story, served).flatMap(({ node, atMs }) =>
    atMs.map((t) => moment(node, 'open', t)),
  ),
});

/** Also where its log is synced once a second only, the disk has a commit soon. */
export const acksWritten: Read = ({ story, served }) =>
  isDirectory(story.scenario.disk.mode)
    ? undefined
    : {
        statements: served.flatMap(({ server, ackedMs }) =>
          ackedMs.map((t) => moment(server.node, 'writing', t)),
        ),
      };

export const answersOutside: Read = ({ served }) => ({
  statements: served.flatMap(({ server, outsideMs }) =>
    outsideMs.map((t) => moment(server.node, 'answers', t)),
  ),
});
