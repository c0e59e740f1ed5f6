"""kruntimes: places Runs on warm Runtime Pods, by rules that anybody can install.

Everything a plugin author needs is here; nothing else in this package is a promise. The names come from
`kruntimes_core.framework.public` when the first of them is asked for. The command is in this package too, and
must have begun before so much is imported: until then, nobody ends it quietly at Ctrl-C.
"""

__version__ = "0.1.0"

# As in `typing`, whose import would be a tenth of the command's start.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from kruntimes_core.framework.public import *  # noqa: F403 - one list, which has an `__all__`
    from kruntimes_core.framework.public import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        from kruntimes_core.framework import public

        if name != "__all__" and name not in public.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(public, name)
        return value

    def __dir__() -> list[str]:
        from kruntimes_core.framework import public

        return sorted({*globals(), *public.__all__})
