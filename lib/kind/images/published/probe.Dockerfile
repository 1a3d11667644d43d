# The probe on a published image; the context holds app/ (this checkout and its packages).
FROM node:24-bookworm-slim
COPY app /app
RUN ln -s /app/bin/forcedetach.mjs /usr/local/bin/forcedetach
ENTRYPOINT ["/usr/local/bin/node", "/app/bin/forcedetach.mjs"]
