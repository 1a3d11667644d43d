/** Serves the generated services over gRPC on a UNIX socket, and names what a handler may throw. */
import { mkdir, rm, appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { callbackify } from 'node:util';
import {
  type DescMessage,
  type DescMethod,
  type DescService,
  type JsonValue,
  type Message,
  type MessageInitShape,
  type MessageShape,
  create,
  fromBinary,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
  type handleUnaryCall,
  status,
} from '@grpc/grpc-js';
import { z } from 'zod';
import { InfrastructureError, describeError } from '../../core/index.ts';
import { type Layout, callLogPath } from './layout.ts';

/** A gRPC status for the caller: Kubernetes acts upon the code. */
export class CallError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.name = 'CallError';
    this.code = code;
  }
}

/** The handlers of one service by method; calls to those that are absent answer UNIMPLEMENTED. */
export type Handlers<S extends { readonly method: Record<string, DescMethod> }> = {
  readonly [M in keyof S['method']]?: (
    request: MessageShape<S['method'][M]['input']>,
    notes: CallNotes,
  ) => Promise<MessageInitShape<S['method'][M]['output']>>;
};

/** What a handler found out on its way, for the log: filled in also where it then fails. */
export type CallNotes = Record<string, unknown>;

type Handler = (request: unknown, notes: CallNotes) => Promise<unknown>;

export interface Call {
  /** The RPC's name, e.g. `NodeStageVolume`. */
  readonly name: string;
  /** The request as JSON. */
  readonly request: JsonValue;
  /** Aborted where the caller gives up. */
  readonly signal: AbortSignal;
}
/** Wraps each call, e.g. to log it. */
export type Around = (call: Call, work: (notes: CallNotes) => Promise<unknown>) => Promise<unknown>;

export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

export function service<S extends DescService>(
  description: S,
  handlers: Handlers<S>,
  around: Around = (_, work) => work({}),
): GrpcService {
  const definition: Record<string, ServiceDefinition[string]> = {};
  const implementation: UntypedServiceImplementation = {};
  const byName = handlers as Readonly<Record<string, Handler | undefined>>;
  for (const method of description.methods) {
    definition[method.localName] = {
      path: `/${description.typeName}/${method.name}`,
      requestStream: method.methodKind !== 'unary',
      responseStream: method.methodKind === 'server_streaming',
      requestSerialize: encoderOf(method.input),
      requestDeserialize: decoderOf(method.input),
      responseSerialize: encoderOf(method.output),
      responseDeserialize: decoderOf(method.output),
    };
    const handler = byName[method.localName];
    if (handler !== undefined) {
      implementation[method.localName] = unary((request: Message, signal) => {
        const call = { name: method.name, request: toJson(method.input, request), signal };
        return around(call, (notes) => handler(request, notes));
      });
    }
  }
  return { definition, implementation };
}

const encoderOf =
  (schema: DescMessage) =>
  (message: MessageInitShape<DescMessage>): Buffer =>
    Buffer.from(toBinary(schema, create(schema, message)));

const decoderOf =
  (schema: DescMessage) =>
  (bytes: Buffer): object =>
    fromBinary(schema, bytes);

const unary =
  (
    handler: (request: Message, signal: AbortSignal) => Promise<unknown>,
  ): handleUnaryCall<Message, unknown> =>
  (call, callback) => {
    const given = new AbortController();
    call.once('cancelled', () => given.abort());
    const answer = callbackify(() => handler(call.request, given.signal));
    answer((error: Error | null, response) => {
      if (error === null) callback(null, response);
      else callback({ code: grpcCodeOf(error), details: messageOf(error) });
    });
  };

/** Anything unforeseen is INTERNAL: Kubernetes tries again. */
export const grpcCodeOf = (error: unknown): status =>
  error instanceof CallError ? error.code : status.INTERNAL;

/** gRPC carries a message in a header: one line. */
export const messageOf = (error: unknown): string =>
  error instanceof CallError ? error.message : describeError(error).replaceAll(/\s*\n\s*/g, '; ');

/** Listens on the socket, in place of whatever an earlier life left there. */
export async function serve(
  socket: string,
  services: readonly GrpcService[],
): Promise<AsyncDisposable> {
  await mkdir(dirname(socket), { recursive: true });
  await rm(socket, { force: true });
  const server = new Server();
  for (const { definition, implementation } of services) {
    server.addService(definition, implementation);
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else {
        reject(
          new InfrastructureError('NO_SOCKET', `could not listen on ${socket}`, { cause: error }),
        );
      }
    });
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await rm(socket, { force: true });
    },
  };
}

/*
 * The driver's log: one JSON line per CSI call, on the shared directory, where it outlives the pod
 * and the node. Times are of CLOCK_MONOTONIC, which all containers of one machine share.
 */

export const callSchema = z.object({
  /** When the call came in, milliseconds of CLOCK_MONOTONIC. */
  monoMs: z.number(),
  /** The same in Unix milliseconds. */
  wallMs: z.number(),
  durationMs: z.number(),
  /** Where the driver runs. */
  host: z.string(),
  /** RPC name, e.g. `NodeStageVolume`. */
  call: z.string(),
  /** The node that the call is about: the one named in it, else where the driver runs. */
  node: z.string(),
  volume: z.string().optional(),
  /** The request, without secrets. */
  request: z.record(z.string(), z.unknown()),
  /** gRPC code's name and message. */
  error: z.string().optional(),
  /** What the call found out on its way: generation, device, fsck, bytes written before … */
  notes: z.record(z.string(), z.unknown()),
});
export type CallEntry = z.infer<typeof callSchema>;

/** Milliseconds of CLOCK_MONOTONIC. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

/** Logs each call after it ended. A call that can't be logged fails: it would be missing evidence. */
export function logCalls(layout: Layout, host: string): Around {
  const path = callLogPath(layout, host);
  return async ({ name, request }, work) => {
    const started = { monoMs: monotonicMs(), wallMs: Date.now() };
    const { secrets: _, ...shown } = request as Readonly<Record<string, unknown>>;
    const notes: CallNotes = {};
    const log = async (error?: unknown): Promise<void> => {
      const entry: CallEntry = {
        ...started,
        durationMs: monotonicMs() - started.monoMs,
        host,
        call: name,
        node: typeof shown['nodeId'] === 'string' ? shown['nodeId'] : host,
        ...(typeof shown['volumeId'] === 'string' && { volume: shown['volumeId'] }),
        request: shown,
        ...(error !== undefined && { error: `${status[grpcCodeOf(error)]}: ${messageOf(error)}` }),
        notes,
      };
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, `${JSON.stringify(entry)}\n`);
    };
    try {
      const answer = await work(notes);
      await log();
      return answer;
    } catch (error) {
      await log(error);
      throw error;
    }
  };
}
