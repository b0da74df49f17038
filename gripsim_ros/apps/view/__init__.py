"""
A plan seen without RViz: the same markers as pictures and in a browser.

``marker_shapes`` turns markers into triangles, ``picture`` draws them off-screen, ``sources``
takes them from plans, recordings and running suites, ``browser`` serves them.
"""
