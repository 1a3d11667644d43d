# What runs beside the cluster: Node, the disk's tools, and the mysqld and innochecksum of the audit.
# Debian's MySQL, because the official image lacks the tools; the build ends if its series moved on.
FROM node:24-bookworm-slim AS node

FROM debian:sid-slim
ARG MYSQL_SERIES
RUN apt-get update \
  && apt-get install -y --no-install-recommends mysql-server-core mysql-client-core \
    iproute2 socat util-linux mount e2fsprogs xfsprogs perl-base procps libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && mysqld --version | grep -F "Ver ${MYSQL_SERIES}." \
  && (id mysql || useradd --system --home-dir /var/lib/mysql --shell /bin/false mysql) \
  && install -d -o mysql /var/lib/mysql /var/lib/mysql-files /var/run/mysqld
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
