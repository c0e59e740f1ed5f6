# An image with installed plugins and nothing else, to be mounted as a volume beside the host. HOST_IMAGE is the image that
# deploy/Dockerfile made: its Python decides which wheels fit.
#
#   docker build --file plugins-volume.Dockerfile --tag <repository>-plugins:1 \
#     --build-arg HOST_IMAGE=<repository>:0.1.0@sha256:<digest> .
#
# Put the wheels of the plugins into the folder `wheels` beside this file, and a `requirements.txt` that lists them, and what
# they need beyond the host, each with its hash.

ARG HOST_IMAGE

FROM ${HOST_IMAGE} AS build
USER 0:0
RUN --mount=type=bind,source=requirements.txt,target=/mnt/requirements.txt \
    --mount=type=bind,source=wheels,target=/mnt/wheels \
    pip install --target /plugins --require-hashes --no-deps --only-binary :all: --no-cache-dir \
      --no-index --find-links /mnt/wheels --requirement /mnt/requirements.txt \
    && kruntimes plugins list

FROM scratch
COPY --from=build /plugins /
