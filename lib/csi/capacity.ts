/** Sizes of volumes: what a request's capacity range asks for, and what it accepts. */
import { status } from '@grpc/grpc-js';
import type { CapacityRange } from './gen/csi_pb.js';
import { CallError } from './grpc.ts';

const mebibyte = 2 ** 20;
/** Where nothing is asked. */
const defaultBytes = 1024 * mebibyte;
/** mkfs.ext4 makes a journal from here on. */
const smallestBytes = 16 * mebibyte;
/** ext4's largest file, with blocks of 4 KiB, is just below 16 TiB: the image is one. */
const largestBytes = 2 ** 43;

type AskedCapacity = Pick<CapacityRange, 'requiredBytes' | 'limitBytes'> | undefined;

/** Size of a new volume, whole mebibytes. Throws OUT_OF_RANGE where none fits. */
export function sizeFor(asked: AskedCapacity): number {
  const { required, limit } = bounds(asked);
  const wanted = required === 0 ? Math.min(defaultBytes, limit) : required;
  const sizeBytes = Math.max(smallestBytes, Math.ceil(wanted / mebibyte) * mebibyte);
  if (sizeBytes > limit || sizeBytes > largestBytes) {
    throw new CallError(
      status.OUT_OF_RANGE,
      `no size fits ${required} to ${limit} bytes: whole mebibytes from ${smallestBytes} to ${largestBytes}`,
    );
  }
  return sizeBytes;
}

/** True where a volume of this size is what the range asks for. */
export function fitsCapacity(sizeBytes: number, asked: AskedCapacity): boolean {
  const { required, limit } = bounds(asked);
  return sizeBytes >= required && sizeBytes <= limit;
}

/** In the protocol, 0 means that nothing is asked. */
function bounds(asked: AskedCapacity): { readonly required: number; readonly limit: number } {
  const required = Number(asked?.requiredBytes ?? 0n);
  const limit = Number(asked?.limitBytes ?? 0n);
  return { required, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit };
}
