"""Check: documents → typed manifests, and the JSON Schemas of what may be written in them."""
