"""The waiting text of a Run: always begins with `waiting for`, never names a Pod or a Run."""

from kruntimes_core.model.status_patches import status_message

# The API contract's base text; also what RuntimePodAvailability says.
BASE_COMPLETION = 'available runtime pods for runtime "{runtime}"'


def waiting_text(completion: str, runtime: str) -> str:
    """The status message for a reason's `completion` of "waiting for ...", as long as the API lets it be."""
    return status_message("waiting for " + completion.replace("{runtime}", runtime))
