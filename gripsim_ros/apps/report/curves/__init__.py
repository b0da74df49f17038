"""Curves as SVG inside reports."""
