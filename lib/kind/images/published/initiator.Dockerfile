# Both ends of a storage protocol, for disks that are reached over a network; the program beside it is the array's.
# Debian's newest: the FUSE export of bookworm's loses concurrent writes.
FROM debian:sid-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends qemu-utils fuse3 \
  && rm -rf /var/lib/apt/lists/*
