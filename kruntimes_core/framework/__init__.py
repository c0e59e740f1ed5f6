"""The hooks of plugins, their registry, the configuration, and the runtime that calls a profile's plugins."""
