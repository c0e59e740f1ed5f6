"""What a schema says about an object: types and bounds, defaults, unknown fields, list keys, rules."""
