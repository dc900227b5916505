"""Schematics of the documentation, one file each, whose `draw()` returns the picture as SVG.

They need nothing but the standard library.
"""
