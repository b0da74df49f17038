"""
Memory of the four nodes with three full scans loaded: ``python -m benchmarks node_memory``.

Each scan of the data folder is planned over the nodes, deformable, one after the other; then
each node is read from ``/proc``. *Resident* is all that is in memory, *proportional* counts
what several processes share by parts, *private* is what would be free without the node. The
processor time of each node is told beside, and with ``--maps`` what its largest mappings are.
"""

import argparse
from collections import Counter
import os
from pathlib import Path
import re
import time

from benchmarks.planning.plan import HYPOTHESES, objects, request

#: Lines of ``smaps_rollup`` that are added up.
FIELDS = {'resident': ('Rss',), 'proportional': ('Pss',),
          'private': ('Private_Clean', 'Private_Dirty')}
#: So long after the last plan the nodes are read [s]: they give memory back when they rest.
REST = 5.0
#: Mappings that are told.
LARGEST = 12
#: First line of a mapping in ``smaps``: range, rights, offset, device, inode, name.
MAPPING = re.compile(r'[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \S+ *(.*)')


def read_memory(process: int) -> dict[str, float]:
    """Return the memory of a process by kind [MB]."""
    lines = Path(f'/proc/{process}/smaps_rollup').read_text().splitlines()[1:]
    sizes = {line.split(':')[0]: int(line.split()[1]) / 1024.0 for line in lines}
    return {name: sum(sizes[field] for field in fields) for name, fields in FIELDS.items()}


def read_peak(process: int) -> float:
    """Return the most that was ever resident [MB]."""
    text = Path(f'/proc/{process}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+)', text)[1]) / 1024.0


def processor_time(process: int) -> float:
    """Return the processor time of a process [s]."""
    fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def largest_mappings(process: int) -> list[tuple[str, float]]:
    """Return the largest private mappings by what they are [MB]; without a name by rights."""
    sizes: Counter[str] = Counter()
    name = ''
    for line in Path(f'/proc/{process}/smaps').read_text().splitlines():
        found = MAPPING.fullmatch(line)
        if found:
            name = Path(found[2]).name or f'anonymous {found[1]}'
        elif line.startswith(('Private_Clean:', 'Private_Dirty:')):
            sizes[name] += int(line.split()[1]) / 1024.0
    return sizes.most_common(LARGEST)


def main() -> None:
    """Plan the scans over the nodes, and tell what each node holds."""
    parser = argparse.ArgumentParser(prog='benchmarks node_memory', description=__doc__)
    parser.add_argument('--hypotheses', type=int, default=HYPOTHESES)
    parser.add_argument('--maps', action='store_true', help='tell the largest mappings too')
    parser.add_argument('--start', action='store_true', help='tell it after the start, too')
    arguments = parser.parse_args()
    from gripsim_ros.ros.environment import enter_isolation
    enter_isolation()
    from gripsim_ros.ros.clients.plan import PlanGraspClient
    from gripsim_ros.ros.clients.suite import Suite
    with Suite(os.environ) as suite, PlanGraspClient() as client:
        if arguments.start:
            tell('after the start', suite, arguments.maps)
        for subject in objects():
            if subject.file:
                answer = client.plan(request(subject, arguments.hypotheses))
                print(f'{subject.name}: {len(subject.grasp_object.mesh.faces)} faces, '
                      f'{len(answer.grasps)} grasps', flush=True)
        time.sleep(REST)
        tell('with the scans', suite, arguments.maps)


def tell(when: str, suite, maps: bool) -> None:
    """Print a row for each node."""
    print(f'{when}:\n{"node":20} {"resident":>9} {"proportional":>13} {"private":>8} {"peak":>8} '
          f'{"processor":>10}')
    for name, process in suite.processes.items():
        memory = read_memory(process.pid)
        print(f'{name:20} {memory["resident"]:6.0f} MB {memory["proportional"]:10.0f} MB '
              f'{memory["private"]:5.0f} MB {read_peak(process.pid):5.0f} MB '
              f'{processor_time(process.pid):8.1f} s', flush=True)
        for kind, size in largest_mappings(process.pid) if maps else ():
            print(f'    {size:6.1f} MB {kind}')


if __name__ == '__main__':
    main()
