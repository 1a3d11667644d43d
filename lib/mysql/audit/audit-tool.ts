/**
 * The audit as a program inside the lab container: rows, and at last the evidence, as JSON lines on
 * stdout (wire.ts). It cleans up on signals, when its reader is gone, and on request when its stdin
 * ends.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { describeError, InterruptError, UsageError } from '../../core/index.ts';
import { collectEvidence } from './collect.ts';
import { encodeRows, type AuditMessage } from '../../storage/index.ts';

const usage = 'node audit-tool.ts --image FILE --loop NUMBER --run-seed SEED [--until-stdin-ends]';

function readArguments() {
  const { values } = parseArgs({
    options: {
      image: { type: 'string' },
      loop: { type: 'string' },
      'run-seed': { type: 'string' },
      'until-stdin-ends': { type: 'boolean', default: false },
    },
  });
  const { image, 'run-seed': seed } = values;
  const loop = Number(values.loop);
  if (image === undefined || seed === undefined || !Number.isInteger(loop)) {
    throw new UsageError('AUDIT_USAGE', 'the audit needs an image, a loop device and the seed', {
      hint: usage,
    });
  }
  return { image, loop, seed, untilStdinEnds: values['until-stdin-ends'] };
}

async function main(): Promise<void> {
  const { image, loop, seed, untilStdinEnds } = readArguments();
  const aborter = new AbortController();
  const abort = (why: string) => (): void =>
    aborter.abort(new InterruptError('AUDIT_INTERRUPTED', `the audit was ended: ${why}`));
  process.on('SIGINT', abort('SIGINT'));
  process.on('SIGTERM', abort('SIGTERM'));
  process.stdout.on('error', abort('nobody reads it'));
  if (untilStdinEnds) {
    process.stdin.on('end', abort('stdin ended')).resume();
    process.stdin.unref();
  }
  const say = async (message: AuditMessage): Promise<void> => {
    if (process.stdout.write(`${JSON.stringify(message)}\n`)) return;
    await once(process.stdout, 'drain', { signal: aborter.signal });
  };
  const evidence = await collectEvidence({
    image,
    loop,
    seed,
    signal: aborter.signal,
    onRows: (rows) => say(encodeRows(rows)),
    onStep: (step) => void say({ type: 'step', step }).catch(() => undefined),
  });
  await say({ type: 'evidence', evidence });
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
