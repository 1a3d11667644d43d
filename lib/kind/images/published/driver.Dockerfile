# The CSI driver on published images; the context holds app/ (lib/storage/csi and the packages it imports).
FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends util-linux mount e2fsprogs xfsprogs procps \
  && rm -rf /var/lib/apt/lists/*
COPY app /app
ENTRYPOINT ["/usr/local/bin/node", "/app/lib/storage/csi/main.ts"]
