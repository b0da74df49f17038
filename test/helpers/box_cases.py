"""Triangles and boxes, the plain way."""


def meets_box(triangle, half):
    """Tell whether a triangle meets a closed box, by cutting it at six planes."""
    polygon = list(triangle)
    for k in range(3):
        for sign in (1.0, -1.0):
            cut = []
            for p, q in zip(polygon, polygon[1:] + polygon[:1]):
                a, b = half[k] - sign * p[k], half[k] - sign * q[k]
                cut += [p] if a >= 0.0 else []
                cut += [p + a / (a - b) * (q - p)] if a * b < 0.0 else []
            polygon = cut
    return len(polygon) > 0
