/** The Auditor port on kind: the audit tool runs in the lab, beside the images and loop devices. */
import type { ImageEvidence } from '../history/index.ts';
import {
  copyPath,
  defaultRoot,
  filesCopyPath,
  layoutOf,
  decodeRows,
  type AuditMessage,
} from '../storage/index.ts';
import { EvidenceError } from '../core/index.ts';
import type { Auditor, RealDatabase } from '../run/index.ts';
import { auditHeap, type Lab, labNode } from './disk/containers.ts';

export interface KindAuditorOptions {
  /** The database's own program that audits. */
  readonly real: Pick<RealDatabase, 'auditTool'>;
  readonly lab: Lab;
  /** Number of a loop device that is leased to this cluster and used for nothing else. */
  readonly loop: number;
  /** The volume is a shared directory, and so are its copies. Default false. */
  readonly isDirectory?: boolean;
  readonly seed: string;
  /** Label of the disk's copy of an image. Default: the image's own label. */
  readonly copyLabel?: (image: string) => string;
  /** Called as each step of an audit begins. Default: nobody is told. */
  readonly onStep?: (image: string, step: string) => void;
}

/** A machine that is busy with three events needs seconds for an answer. */
const timeoutMs = 120_000;
/** Whether the lab still answers is asked so often. */
const askEveryMs = 60_000;

export function kindAuditor(options: KindAuditorOptions): Auditor {
  const { real, lab, loop, seed, copyLabel = (image) => image, onStep } = options;
  // Where the lab has this project.
  const toolPath = `/app/${real.auditTool}`;
  const pathOf = options.isDirectory === true ? filesCopyPath : copyPath;
  return {
    async audit(image, onRow, signal): Promise<ImageEvidence> {
      signal?.throwIfAborted();
      const path = pathOf(layoutOf(defaultRoot), copyLabel(image));
      const target = ['--image', path, '--loop', String(loop), '--run-seed', seed];
      const argv = [...labNode, ...auditHeap, toolPath, ...target, '--until-stdin-ends'];
      const { promise, resolve, reject } = Promise.withResolvers<ImageEvidence>();
      const onLine = (line: string): void => {
        try {
          const message = JSON.parse(line) as AuditMessage;
          if (message.type === 'rows') decodeRows(message, onRow);
          else if (message.type === 'step') onStep?.(image, message.step);
          else resolve(message.evidence);
        } catch (cause) {
          reject(unreadable(line, cause));
        }
      };
      await using stream = await lab.stream(argv, onLine);
      stream.closed.then(() => reject(new EvidenceError('AUDIT_ENDED', 'it was ended')), reject);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      // An audit may be silent for minutes; a lab that does not answer meanwhile will never tell.
      const asking = setInterval(() => lab.exec(['true'], { timeoutMs }).catch(reject), askEveryMs);
      try {
        return await promise;
      } finally {
        clearInterval(asking);
      }
    },
  };
}

function unreadable(line: string, cause: unknown): EvidenceError {
  const what = `the audit tool wrote a line that cannot be read: ${line.slice(0, 200)}`;
  return new EvidenceError('AUDIT_UNREADABLE', what, { cause });
}
