r"""
Second-order cone programmes: an interior-point method for many small ones at once.

The programme and its dual, in the standard form of CVXOPT and ECOS::

    minimise   c'x                       maximise   -b'y - h'z
    such that  A x = b                   such that  A'y + G'z + c = 0
               G x + s = h,  s in K                 z in K

``K`` is a product of m half-lines ``v >= 0`` and k second-order cones of four entries,
``Q = {v : v0 >= |(v1, v2, v3)|}``. It is self-dual. The last 4k rows of G are minus the identity,
with h zero there: the first 4k unknowns themselves lie in the cones.

Homogeneous self-dual embedding
-------------------------------
With scalars ``tau, kappa >= 0`` both programmes become one that always has a solution::

    r1 = A'y + G'z + c tau        = 0
    r2 = b tau - A x              = 0
    r3 = h tau - G x - s          = 0
    r4 = -c'x - b'y - h'z - kappa = 0

Where ``tau > 0`` at its solution, ``x / tau`` solves the programme; where ``-b'y - h'z > 0`` with
``A'y + G'z = 0``, y and z prove that nothing is feasible (Farkas).

Steps
-----
Nesterov and Todd's scaling W takes z and s to the same point, ``lambda = W z = W^-1 s``. With the
Jordan product ``o`` of the cones and its identity e, a direction solves, for a centring
``sigma``, ``mu = (s'z + kappa tau) / (m + k + 1)``::

    A'dy + G'dz + c dtau        = -(1 - sigma) r1
    A dx - b dtau               =  (1 - sigma) r2
    G dx + ds - h dtau          =  (1 - sigma) r3
    c'dx + b'dy + h'dz + dkappa =  (1 - sigma) r4
    lambda o (W dz + W^-1 ds)   =  d      kappa dtau + tau dkappa = d_kappa

The predictor has ``sigma = 0``, ``d = -lambda o lambda`` and ``d_kappa = -kappa tau``. From the
step alpha that it could take follow Mehrotra's ``sigma = (1 - alpha)^3`` and the corrector with::

    d       = -lambda o lambda - (W^-1 ds_p) o (W dz_p) + sigma mu e
    d_kappa = -kappa tau - dkappa_p dtau_p + sigma mu

Without ``dtau`` the first three equations are the KKT system ``K(W)``, solved by normal equations
and a Schur complement (``kkt.py``), once for ``(-c, b, h)`` and once for the rest; the fourth
gives ``dtau``. A step goes 0.99 of the way to the boundary of K, at most 1.

Verdicts
--------
Solved: ``|r1|``, ``|r2|`` and ``|r3|`` over tau, the last also over ``max(1, |s| / tau)``, and the
gap of the two objectives over ``max(1, |c'x| / tau)`` are at most the tolerance. Infeasible:
``|A'y + G'z|`` is at most the tolerance times ``-b'y - h'z > 0``. Undecided: round-off stopped the
iteration before either.

Sources
-------
Nesterov & Todd, Self-scaled barriers and interior-point methods for convex programming,
Mathematics of Operations Research 22, 1997, and Primal-dual interior-point methods for
self-scaled cones, SIAM Journal on Optimization 8, 1998 (scaling). Ye, Todd & Mizuno, Mathematics
of Operations Research 19, 1994 (embedding). Mehrotra, SIAM Journal on Optimization 2, 1992
(predictor and corrector). Andersen, Roos & Terlaky, Mathematical Programming 95, 2003 (all of
these for second-order cones). Vandenberghe, The CVXOPT linear and quadratic cone program solvers,
2010, and Domahidi, Chu & Boyd, ECOS, European Control Conference 2013 (formulas and notation).
"""
