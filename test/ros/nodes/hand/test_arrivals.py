"""Objects that come for a simulated hand."""

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import GraspObject  # noqa: E402

from gripsim_ros.core.errors import MeshError  # noqa: E402
from gripsim_ros.ros.nodes.hand.arrivals import Arrivals  # noqa: E402


def taken(arrivals):
    """Return the labels of what is built now."""
    built = []
    arrivals.take(lambda msg: built.append((msg.label, arrivals.preparing)))
    return built


@pytest.mark.parametrize('wanted, label', [('', 'pear'), ('apple', 'apple'), ('2', 'pear'),
                                           ('plum', None)])
def test_the_newest_that_is_wanted_is_built_and_told_of(wanted, label):
    arrivals = Arrivals(wanted)
    for name, number in (('apple', '1'), ('pear', '2')):
        arrivals.put(GraspObject(label=name, object_id=number))
    assert taken(arrivals) == ([] if label is None else [(label, label)])
    arrivals.done()
    assert (arrivals.preparing, taken(arrivals)) == ('', [])


def test_what_is_built_is_not_built_again_even_before_it_is_held():
    arrivals = Arrivals('')
    arrivals.put(GraspObject(label='apple', object_id='1'))
    assert taken(arrivals) == [('apple', 'apple')]
    arrivals.put(GraspObject(label='apple', object_id='1'))
    assert taken(arrivals) == []
    arrivals.done()
    arrivals.put(GraspObject(label='pear', object_id='2'))
    arrivals.put(GraspObject(label='pear', object_id='2'))
    assert taken(arrivals) == [('pear', 'pear')]
    arrivals.put(GraspObject(label='apple', object_id='1'))
    assert taken(arrivals) == [('apple', 'apple')]


def test_a_refusal_is_kept_until_another_object_comes():
    arrivals = Arrivals('')
    arrivals.put(GraspObject(label='apple', object_id='1'))

    def refuse(_):
        raise MeshError('open')
    with pytest.raises(MeshError):
        arrivals.take(refuse)
    assert (arrivals.preparing, arrivals.refused) == ('', 'object apple refused: open')
    arrivals.put(GraspObject(label='pear', object_id='2'))
    assert (taken(arrivals), arrivals.refused) == ([('pear', 'pear')], '')
