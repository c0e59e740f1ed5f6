# Plugins in an image of your own. HOST_IMAGE is the image that deploy/Dockerfile made, by tag and digest.
#
#   docker build --file with-plugins.Dockerfile --tag <repository>:0.1.0-1 \
#     --build-arg HOST_IMAGE=<repository>:0.1.0@sha256:<digest> .
#
# Put the wheels of the plugins into the folder `wheels` beside this file, and a `requirements.txt` that lists them, and what
# they need beyond the host, each with its hash.

ARG HOST_IMAGE

FROM ${HOST_IMAGE}
USER 0:0
# Without dependencies: the list is complete, and pip must not replace the host of this image.
RUN --mount=type=bind,source=requirements.txt,target=/mnt/requirements.txt \
    --mount=type=bind,source=wheels,target=/mnt/wheels \
    pip --python /opt/kruntimes install --require-hashes --no-deps --only-binary :all: --no-cache-dir \
      --no-index --find-links /mnt/wheels --requirement /mnt/requirements.txt \
    && kruntimes plugins list
USER 65532:65532
