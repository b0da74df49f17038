"""Laws of finite strain: energy, stress and tangent of isotropic hyperelastic materials."""

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...bodies.material import Material
from ...errors import MaterialError

#: Lame's lambda over the shear modulus of laws that lead to that of a body which keeps its volume.
EASIER_RATIOS = (4.0, 12.0, 36.0, 108.0, 324.0)


@dataclass(frozen=True)
class StrainLaw:
    """
    An isotropic hyperelastic law, ``W(F) + U(J)``.

    The part of shape ``W`` is, with the shear modulus mu and principal stretches l_i,

    * Yeoh: ``mu / 2 (x + c2 x^2 + c3 x^3)`` with ``x = I1 - 3``; neo-Hookean without c2 and c3;
    * Ogden, one term: ``2 mu / a^2 (l_1^a + l_2^a + l_3^a - 3)``; neo-Hookean for a = 2.

    The part of volume is that of Ciarlet, ``U = lambda / 4 (J^2 - 1 - 2 ln J) - g ln J``, where g
    takes away the stress of ``W`` in the body at rest. Both agree with Hooke's law for small
    strain.

    Attributes
    ----------
    shear_modulus, lame : float
        mu and lambda [Pa].
    coefficients : tuple of float
        c2 and c3 of Yeoh's law, c2 and c3 = 0 for the neo-Hookean [-].
    exponent : float
        a of Ogden's law; 0 where the law is Yeoh's [-].

    Notes
    -----
    Source: Yeoh, Rubber Chem. Technol. 66, 1993, 754; Ogden, Proc. R. Soc. A 326, 1972, 565;
    Ciarlet, Mathematical Elasticity I, 1988, section 4.10.
    """

    shear_modulus: float
    lame: float
    coefficients: tuple[float, float] = (0.0, 0.0)
    exponent: float = 0.0

    @staticmethod
    def of_material(material: Material) -> 'StrainLaw':
        """
        Return the law of a material.

        Raises
        ------
        MaterialError
            Poisson's ratio is below 0, where no law of finite strain is offered, or Yeoh's c2 is
            too large for it.
        """
        nu, mu = material.poisson_ratio, material.shear_modulus
        if nu < 0.0:
            raise MaterialError('finite strain needs a poisson_ratio of 0 or more, got '
                                f'{nu:g}')
        lame = 2.0 * mu * nu / (1.0 - 2.0 * nu)
        values = material.law_parameters
        if material.law == 'ogden':
            return StrainLaw(mu, lame, exponent=values[0])
        if material.law == 'yeoh':
            # c2 resists a change of volume too, which the part of volume must not do again.
            rest = lame - 4.0 * values[0] * mu
            if rest < 0.0:
                raise MaterialError(f'c2 of the law yeoh must be at most {0.25 * lame / mu:.3g} '
                                    f'for a poisson_ratio of {nu:g}, got {values[0]:g}')
            return StrainLaw(mu, rest, (values[0], values[1]))
        return StrainLaw(mu, lame)

    def easier(self) -> list['StrainLaw']:
        """Return laws that resist a change of volume more and more, this one last."""
        lames = [ratio * self.shear_modulus for ratio in EASIER_RATIOS]
        return [replace(self, lame=lame) for lame in lames if lame < self.lame] + [self]

    @property
    def pressure_at_rest(self) -> float:
        """Return g, the stress of ``W`` in the body at rest [Pa]."""
        if self.exponent:
            return 2.0 * self.shear_modulus / self.exponent
        return self.shear_modulus

    def shape_energy(self, gradients: Array) -> Array:
        """Return W (…,) of deformation gradients (…, 3, 3) [J/m^3]."""
        if self.exponent:
            stretches = np.linalg.svd(gradients, compute_uv=False)
            sums = (stretches ** self.exponent).sum(axis=-1) - 3.0
            return 2.0 * self.shear_modulus / self.exponent ** 2 * sums
        x = self._invariant(gradients)
        c2, c3 = self.coefficients
        return 0.5 * self.shear_modulus * x * (1.0 + x * (c2 + x * c3))

    def shape_stress(self, gradients: Array) -> Array:
        """Return dW/dF (…, 3, 3), first Piola-Kirchhoff, of deformation gradients [Pa]."""
        if self.exponent:
            left, stretches, right = np.linalg.svd(gradients)
            slopes = self.pressure_at_rest * stretches ** (self.exponent - 1.0)
            return (left * slopes[..., None, :]) @ right
        return self._slope(self._invariant(gradients))[..., None, None] * gradients

    def shape_tangent(self, gradients: Array) -> Array:
        """Return d2W/dF2 (…, 9, 9), rows and columns in the order of F, row by row [Pa]."""
        if self.exponent:
            return self._ogden_tangent(gradients)
        x = self._invariant(gradients)
        c2, c3 = self.coefficients
        curvature = self.shear_modulus * (4.0 * c2 + 12.0 * c3 * x)
        flat = gradients.reshape(*gradients.shape[:-2], 9)
        return (self._slope(x)[..., None, None] * np.eye(9)
                + (curvature[..., None] * flat)[..., :, None] * flat[..., None, :])

    def swelling_energy(self, ratios: Array) -> Array:
        """Return ``-g ln J`` of ratios of volume; infinite where a volume is gone [J/m^3]."""
        with np.errstate(divide='ignore', invalid='ignore'):
            energies = -self.pressure_at_rest * np.log(ratios)
        return np.where(ratios > 0.0, energies, np.inf)

    def volume_energy(self, ratios: Array) -> Array:
        """Return ``lambda / 4 (J^2 - 1 - 2 ln J)``; infinite where a volume is gone [J/m^3]."""
        with np.errstate(divide='ignore', invalid='ignore'):
            energies = 0.25 * self.lame * (ratios ** 2 - 1.0 - 2.0 * np.log(ratios))
        return np.where(ratios > 0.0, energies, np.inf)

    def volume_slope(self, ratios: Array) -> Array:
        """Return the derivative of ``volume_energy`` by J [Pa]."""
        return 0.5 * self.lame * (ratios - 1.0 / ratios)

    def volume_curvature(self, ratios: Array) -> Array:
        """Return its second derivative by J [Pa]."""
        return 0.5 * self.lame * (1.0 + 1.0 / ratios ** 2)

    def _invariant(self, gradients: Array) -> Array:
        return (gradients ** 2).sum(axis=(-1, -2)) - 3.0

    def _slope(self, x: Array) -> Array:
        c2, c3 = self.coefficients
        return self.shear_modulus * (1.0 + x * (2.0 * c2 + 3.0 * c3 * x))

    def _ogden_tangent(self, gradients: Array) -> Array:
        """
        Return the tangent by its eigenvectors: stretches, and turns of two stretches.

        Source: Smith, de Goes & Kim, ACM TOG 38 (1), 2019, section 4, for separable energies.
        """
        left, s, right = np.linalg.svd(gradients)
        a, g = self.exponent, self.pressure_at_rest
        slope, curvature = g * s ** (a - 1.0), g * (a - 1.0) * s ** (a - 2.0)
        tangent = np.zeros((*s.shape[:-1], 9, 9))

        def add(matrix: Array, value: Array) -> None:
            mode = (left @ matrix @ right).reshape(*s.shape[:-1], 9)
            tangent[...] += value[..., None, None] * mode[..., :, None] * mode[..., None, :]

        for i in range(3):
            add(np.outer(np.eye(3)[i], np.eye(3)[i]), curvature[..., i])
            j, half = (i + 1) % 3, np.sqrt(0.5)
            both, turn = np.zeros((3, 3)), np.zeros((3, 3))
            both[i, j] = both[j, i] = turn[i, j] = half
            turn[j, i] = -half
            apart = s[..., i] - s[..., j]
            near = np.abs(apart) < 1e-6
            ratio = (slope[..., i] - slope[..., j]) / np.where(near, 1.0, apart)
            add(both, np.where(near, curvature[..., i], ratio))
            add(turn, (slope[..., i] + slope[..., j]) / (s[..., i] + s[..., j]))
        return tangent
