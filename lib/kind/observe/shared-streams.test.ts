import { expect, test } from 'vitest';
import type { LineStream, OpenStream } from '../engine/run.ts';
import { sharedStreams } from '../backend.ts';

interface Command {
  readonly argv: readonly string[];
  readonly say: (line: string) => void;
  readonly end: (error: Error) => void;
  readonly heard: string[];
  isDisposed: boolean;
}

/** Stands for real commands; each that is opened is noted. */
function commands(): { readonly opened: Command[]; readonly open: OpenStream } {
  const opened: Command[] = [];
  const open: OpenStream = async (argv, say) => {
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => undefined);
    const command: Command = { argv, say, end: ended.reject, heard: [], isDisposed: false };
    opened.push(command);
    const stream: LineStream = {
      closed: ended.promise,
      write: (line) => void command.heard.push(line),
      async [Symbol.asyncDispose](): Promise<void> {
        command.isDisposed = true;
        ended.resolve();
      },
    };
    return Promise.resolve(stream);
  };
  return { opened, open };
}

test('a command runs once, and who comes later hears it from its beginning', async () => {
  const { opened, open } = commands();
  const shared = sharedStreams(2, open);
  const first: string[] = [];
  const second: string[] = [];
  const a = await shared(['tail', 'log'], (line) => first.push(line));
  opened[0]?.say('one');
  const b = await shared(['tail', 'log'], (line) => second.push(line));
  opened[0]?.say('two');
  b.write('to both');
  expect({ count: opened.length, first, second, heard: opened[0]?.heard }).toEqual({
    count: 1,
    first: ['one', 'two'],
    second: ['one', 'two'],
    heard: ['to both'],
  });
  await a[Symbol.asyncDispose]();
  opened[0]?.say('three');
  expect({ first, second, gone: opened[0]?.isDisposed }).toEqual({
    first: ['one', 'two'],
    second: ['one', 'two', 'three'],
    gone: false,
  });
  await b[Symbol.asyncDispose]();
  expect(opened[0]?.isDisposed).toBe(true);
});

test('another command is another stream, and so is one whose beginning is gone', async () => {
  const { opened, open } = commands();
  const shared = sharedStreams(1, open);
  await shared(['a'], () => undefined);
  await shared(['b'], () => undefined);
  const lines: string[] = [];
  opened[0]?.say('before');
  await shared(['a'], (line) => lines.push(line));
  opened[2]?.say('anew');
  expect(opened.map(({ argv }) => argv[0])).toEqual(['a', 'b', 'a']);
  expect(lines).toEqual(['anew']);
});

test('an early end is told to every reader, and the next one starts the command anew', async () => {
  const { opened, open } = commands();
  const shared = sharedStreams(3, open);
  const a = await shared(['a'], () => undefined);
  const b = await shared(['a'], () => undefined);
  opened[0]?.end(new Error('the node was killed'));
  await expect(a.closed).rejects.toThrow('the node was killed');
  await expect(b.closed).rejects.toThrow('the node was killed');
  await shared(['a'], () => undefined);
  expect(opened).toHaveLength(2);
});

test('a reader that leaves ends in good order, whatever the others do', async () => {
  const { opened, open } = commands();
  const shared = sharedStreams(2, open);
  const a = await shared(['a'], () => undefined);
  await shared(['a'], () => undefined);
  await a[Symbol.asyncDispose]();
  opened[0]?.end(new Error('later'));
  await expect(a.closed).resolves.toBeUndefined();
});
