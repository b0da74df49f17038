"""Many links and configurations at once: the same answers, whoever computes them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.vertices.batch import batch_vertex_contacts
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import transform

LINKS = (ContactMesh(shapes.capsule(0.012, 0.04, 0.005)),
         ContactMesh(shapes.box([0.03, 0.03, 0.03], 0.01)))
BODY = ContactMesh(shapes.apple(0.08, 0.007))
COUNT = 7


def jobs(rng):
    turns = Rotation.random(COUNT * 2, random_state=3).as_matrix().reshape(COUNT, 2, 3, 3)
    poses = transform(turns, rng.uniform(-0.05, 0.05, (COUNT, 2, 3)))
    return poses, rng.normal(size=(COUNT, 2, 3))


@pytest.mark.parametrize('workers', [1, 2, 3])
def test_each_answer_is_that_of_the_single_question(rng, workers):
    poses, directions = jobs(rng)
    many = batch_vertex_contacts(LINKS, BODY, poses, directions, workers)
    for i in range(COUNT):
        for link, mesh in enumerate(LINKS):
            one, found = vertex_contacts(mesh, BODY, poses[i, link], directions[i, link]), many.of(
                i, link)
            for side, twin, count in zip((one.a_in_b, one.b_in_a), (found.a_in_b, found.b_in_a),
                                         many.counts[i, link]):
                assert count == len(side.vertices)
                for name in ('vertices', 'depths', 'points', 'triangles', 'weights'):
                    np.testing.assert_array_equal(getattr(twin, name), getattr(side, name))
    assert (many.counts.sum(axis=(0, 1)) > 20).all()


def test_what_does_not_fit_is_refused(rng):
    poses, directions = jobs(rng)
    with pytest.raises(ShapeError, match='2 links need poses'):
        batch_vertex_contacts(LINKS, BODY, poses[:, :1], directions)
    with pytest.raises(ShapeError, match='three finite numbers'):
        batch_vertex_contacts(LINKS, BODY, poses, 0.0 * directions)
    with pytest.raises(ShapeError, match='at least 1, got 0'):
        batch_vertex_contacts(LINKS, BODY, poses, directions, 0)
    with pytest.raises(ShapeError, match='not .7, 0.'):
        batch_vertex_contacts(LINKS, BODY, poses, directions).of(COUNT, 0)
