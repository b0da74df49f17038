"""The wire: bytes, requests and replies, and the joint controller in SI units."""
