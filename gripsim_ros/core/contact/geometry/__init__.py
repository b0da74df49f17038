"""Boxes, trees and queries on triangle meshes."""
