"""Hertz' contact on regular grids: this project beside tamaas and ContactMechanics."""

import time

import numpy as np

from benchmarks.mechanics.flat_grid import solve_flat_contact

MODULUS, RADIUS, DEPTH = 1e5, 8e-3, 1e-3
CONTACT_RADIUS = np.sqrt(RADIUS * DEPTH)
FORCE = 4.0 / 3.0 * MODULUS * np.sqrt(RADIUS) * DEPTH ** 1.5
PEAK = 2.0 * MODULUS * CONTACT_RADIUS / (np.pi * RADIUS)
WIDTH = 3.0 * CONTACT_RADIUS
#: A run counts when force and peak are this near to those of the same code solved to the end.
SETTLED = 5e-5
TOLERANCES = 10.0 ** -np.arange(2.0, 11.0)


def profile(count):
    """Return the paraboloid's heights on a grid [m], 0 in the middle, and the cell's side."""
    side = WIDTH / count
    x = (np.arange(count) + 0.5) * side - 0.5 * WIDTH
    return -(x[:, None] ** 2 + x[None] ** 2) / (2.0 * RADIUS), side


def own(count):
    """Return a solver: tolerance to force and peak pressure."""
    heights, side = profile(count)

    def solve(tolerance):
        contact = solve_flat_contact(DEPTH + heights, (side, side), MODULUS, tolerance)
        return contact.force, float(contact.pressures.max())
    return solve


def tamaas(count):
    """Return tamaas' solver (Polonsky & Keer, Rey et al.), load given."""
    import tamaas as tm
    tm.set_log_level(tm.LogLevel.error)
    tm.initialize(1)
    heights, _ = profile(count)
    model = tm.Model(tm.model_type.basic_2d, [WIDTH, WIDTH], [count, count])
    model.E, model.nu = MODULUS, 0.0
    tm.ModelFactory.registerNonPeriodic(model, 'dcfft')

    def solve(tolerance):
        model.traction[:] = 0.0
        model.displacement[:] = 0.0
        solver = tm.PolonskyKeerRey(model, heights, tolerance)
        solver.setIntegralOperator('dcfft')
        solver.solve(FORCE / WIDTH ** 2)
        return (float(model.traction.mean()) * WIDTH ** 2, float(model.traction.max()))
    return solve


def contact_mechanics(count):
    """Return ContactMechanics' solver (Polonsky & Keer on a free half-space), depth given."""
    from ContactMechanics import FreeFFTElasticHalfSpace
    from ContactMechanics.Systems import NonSmoothContactSystem
    from SurfaceTopography import Topography
    heights, side = profile(count)
    system = NonSmoothContactSystem(
        FreeFFTElasticHalfSpace((count, count), MODULUS, (WIDTH, WIDTH)),
        Topography(heights, (WIDTH, WIDTH)))

    def solve(tolerance):
        forces = system.minimize_proxy(offset=DEPTH, pentol=tolerance * DEPTH).jac
        return float(forces.sum()), float(forces.max()) / side ** 2
    return solve


def loosest(solve):
    """Return the loosest tolerance at which force and peak are those of the tightest."""
    final = np.array(solve(TOLERANCES[-1]))
    for tolerance in TOLERANCES:
        if np.abs(np.array(solve(tolerance)) / final - 1.0).max() < SETTLED:
            return tolerance
    return TOLERANCES[-1]


def compare(counts, rounds=5):
    """Print the table and return its rows."""
    makers = [('gripsim', own), ('tamaas', tamaas), ('ContactMechanics', contact_mechanics)]
    rows = []
    print('\nHertz on a grid three contact radii wide, one thread; tolerance of each the loosest'
          '\nat which force and peak no longer change by 5e-5; median of interleaved runs\n')
    print(f'{"cells":>7} {"code":18} {"tolerance":>9} {"force":>10} {"peak":>10} {"ms":>9} '
          f'{"ratio":>6}')
    for count in counts:
        found = []
        for name, make in makers:
            try:
                solve = make(count)
            except ImportError as error:
                print(f'{count:>5}^2 {name:18} needs {error.name}: run `make bench-setup`')
                continue
            found.append((name, solve, loosest(solve)))
        times = np.zeros((rounds, len(found)))
        for row in times:
            for k, (_, solve, tolerance) in enumerate(found):
                start = time.process_time()
                solve(tolerance)
                row[k] = time.process_time() - start
        medians = 1e3 * np.median(times, axis=0)
        for (name, solve, tolerance), median in zip(found, medians):
            force, peak = solve(tolerance)
            rows.append((count, name, tolerance, force / FORCE - 1.0, peak / PEAK - 1.0, median,
                         median / medians[0]))
            print(f'{count:>5}^2 {name:18} {tolerance:9.0e} {force / FORCE - 1.0:+10.4%} '
                  f'{peak / PEAK - 1.0:+10.4%} {median:9.1f} {median / medians[0]:6.1f}')
    return rows
