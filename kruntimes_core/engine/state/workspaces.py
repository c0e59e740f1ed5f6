"""The PersistentWorkspaces, which some Runs are tied to."""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.engine.state.pictures import Pictures
from kruntimes_core.model.resource_version import newer_than_list, older
from kruntimes_core.model.workspace import Workspace, WorkspaceObservation


class WorkspaceTable:
    """All known workspaces, and the versions in which they were seen."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self._versions: dict[tuple[str, str], str] = {}

    def get(self, namespace: str, name: str) -> Workspace | None:
        """A workspace as it is now."""
        return self._pictures.of(namespace).workspaces.get(name)

    def observe(self, observation: WorkspaceObservation) -> None:
        """A workspace was seen; older than what was seen before, it is ignored."""
        workspace = observation.workspace
        key = (workspace.namespace, workspace.name)
        if older(observation.version, self._versions.get(key, "")):
            return
        self._versions[key] = observation.version
        if self.get(*key) != workspace:
            self._pictures.put_workspace(*key, workspace)

    def gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A workspace was deleted; its successor of the same name is not touched by it."""
        known = self.get(namespace, name)
        if known is None or (uid and known.uid and known.uid != uid):
            return
        if version and older(version, self._versions.get((namespace, name), "")):
            return
        del self._versions[namespace, name]
        self._pictures.put_workspace(namespace, name, None)

    def listed(
        self, observations: Iterable[WorkspaceObservation], version: str, namespace: str | None
    ) -> None:
        """A whole list was seen: those that are missing in it are gone."""
        present = set()
        for observation in observations:
            present.add((observation.workspace.namespace, observation.workspace.name))
            self.observe(observation)
        for key in [key for key in self._versions if namespace in (None, key[0]) and key not in present]:
            if not newer_than_list(self._versions[key], version):
                self.gone(*key, "")
