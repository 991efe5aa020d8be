# Assay as a service: one process with its web server and its worker, as an unprivileged user. Everything it keeps is in /data.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN python -m venv /assay \
 && /assay/bin/pip install --no-cache-dir --constraint requirements.lock .

FROM python:3.11-slim-bookworm
# git fetches and reads; nothing of what it fetches is ever executed.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificates tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin assay \
 && install -d -o assay -g assay -m 0700 /data
COPY --from=build /assay /assay
ENV PATH=/assay/bin:$PATH PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1 ASSAY_DATA_DIR=/data ASSAY_HOST=0.0.0.0 ASSAY_PORT=8080
USER assay
WORKDIR /
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['ASSAY_PORT']}/healthz\", timeout=4)"]
# tini reaps what a killed review leaves behind and passes SIGTERM on.
ENTRYPOINT ["tini", "--", "assay"]
CMD ["serve"]
