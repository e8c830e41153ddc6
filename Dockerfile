FROM python:3.11-slim AS environment
RUN pip install --no-cache-dir uv==0.13.7
WORKDIR /app
ENV UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1
COPY pyproject.toml uv.lock ./
RUN uv sync --locked --no-dev --no-install-project --no-cache

FROM python:3.11-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git util-linux \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 hikitsugi \
    && install --directory --owner hikitsugi --group hikitsugi --mode 0700 /data
WORKDIR /app
COPY --from=environment /app/.venv .venv
COPY activities activities
COPY hikitsugi hikitsugi
COPY workflows workflows
COPY worker.py starter.py ./
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 HIKITSUGI_DATA_FOLDER=/data
USER hikitsugi
# Every role serves its metrics on loopback once it is up.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9464/metrics', timeout=4)"]
CMD ["python", "worker.py"]
