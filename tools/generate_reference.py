"""
Write docs/reference.md from parameter files, nodes, launch file, commands and messages.

Run `python tools/generate_reference.py` after a change of any of them; `--check` only compares.
"""

import argparse
import ast
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

import typer
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs' / 'reference.md'
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from gripsim_ros.core.bodies.material import LIMITS, NUMBERS  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402
from opened_names import SOURCES, opened  # noqa: E402

HEAD = """# Reference

Every parameter, option of a command, topic, service, number of a grasp, message field and exit
code. Written by `tools/generate_reference.py` from the files that hold them; a test compares. SI
units throughout; conventions of frames are in [conventions.md](conventions.md), what the nodes do
with all this in [nodes.md](nodes.md).
"""
#: Widest line of text in the page, but for rows of tables.
WIDTH = 120
#: How the page calls the kinds of what a node opens.
KINDS = {'publish': 'publishes', 'subscribe': 'takes', 'reply': 'serves', 'request': 'calls',
         'execute': 'serves (action)', 'call': 'calls (action)'}
PARTS = {'msg': ('',), 'srv': ('Request', 'Response'), 'action': ('Goal', 'Result', 'Feedback')}
#: A name and its value in YAML, with the comment behind it.
ENTRY = re.compile(r'^(?P<indent> *)(?P<name>[\w/*]+): *(?P<value>\'[^\']*\'|"[^"]*"|\{[^}]*\}|'
                   r'\[[^\]]*\]|[^#\s]*) *(?:# *(?P<comment>.*))?$')
#: A field or constant of a message, with the comment behind it.
FIELD = re.compile(r'^(?P<type>[\w/]+(?:\[\d*\])?) +(?P<name>\w+)(?: *= *(?P<value>[^#\s]+))?'
                   r' *(?:# *(?P<comment>.*))?$')
EXIT_CODES = {
    '`gripsim`': (('DONE', 'done; also an empty list of grasps is an answer'),
                  ('FAULT', 'a fault; `--debug` shows the traceback; of `doctor`: something is '
                            'bad; of `execute`: the grasp did not succeed; of `replay`: answers '
                            'differ'),
                  ('BAD_INPUT', 'bad input, with one line: what arrived, what is allowed'),
                  ('INTERRUPTED', 'interrupted; what there is is written first'))}
NODE_CODES = ((0, 'ended by SIGINT or SIGTERM'),
              (2, 'bad parameter, configuration or hand, with one line'),
              (1, 'a fault while it starts'))


def cell(text):
    """Return a text as it may stand in a table."""
    return str(text).replace('|', '\\|').strip()


def table(head, rows):
    """Return the lines of a table."""
    return [f'| {" | ".join(head)} |', '|' + '---|' * len(head),
            *(f'| {" | ".join(map(cell, row))} |' for row in rows), '']


def code(text):
    """Return a value as code; nothing for no value."""
    return f'`{text}`' if str(text) else ''


# -- YAML files --------------------------------------------------------------------------


def yaml_entries(path):
    """Yield the names that lead to each value of a YAML file, the value, and its comment."""
    stack = []
    for line in path.read_text(encoding='utf-8').splitlines():
        match = ENTRY.match(line)
        if not match:
            continue
        depth = len(match['indent'])
        stack = [(d, name) for d, name in stack if d < depth] + [(depth, match['name'])]
        if match['value']:
            yield tuple(name for _, name in stack), match['value'], match['comment'] or ''


def check_complete(path, found):
    """Raise ValueError where the lines of a file were not all understood."""
    def leaves(content, names=()):
        for name, value in content.items():
            if isinstance(value, dict) and value:
                yield from leaves(value, (*names, str(name)))
            else:
                yield (*names, str(name))
    missing = set(leaves(yaml.safe_load(path.read_text(encoding='utf-8')))) - set(found)
    if missing:
        raise ValueError(f'{path}: not understood: {sorted(missing)}')


def options(name, title, intro):
    """Return the section of one file of options."""
    path = ROOT / 'config' / f'{name}.yaml'
    entries = list(yaml_entries(path))
    check_complete(path, [names for names, _, _ in entries])
    rows = [(code('.'.join(names)), code(value), comment) for names, value, comment in entries]
    return [f'## {title}', '', intro, '', *table(('option', 'default', 'meaning'), rows)]


def materials():
    """Return the section of the library of materials."""
    content = yaml.safe_load((ROOT / 'config' / 'materials.yaml').read_text(encoding='utf-8'))
    rows = [(code(name), *(value.get(key, 'no limit' if key in LIMITS else 'not known')
                           for key in NUMBERS)) for name, value in content['materials'].items()]
    units = ('Pa', '-', 'kg/m³', '-', 'Pa', 'N', '-')
    head = ('name', *(f'{key} [{unit}]' for key, unit in zip(NUMBERS, units)))
    return ['## Materials', '', f'`config/materials.yaml`, with sources; default: '
            f'`{content["default"]}`.', '', *table(head, rows)]


# -- nodes -------------------------------------------------------------------------------


def declared(node):
    """Return the parameters that a node declares beside those of all nodes, by name."""
    module = importlib.import_module(PROGRAMS[node])
    parameters = list(getattr(module, 'PARAMETERS', ()))
    if any(source.endswith('stage_node.py') for source in SOURCES[node]):
        stage = importlib.import_module('gripsim_ros.ros.nodes.ring.stage_node').STAGE_PARAMETERS
        parameters = [*stage, *parameters]
    return {parameter.name: parameter for parameter in parameters}


def parameter_rows(section, parameters, entries):
    """Return a row for each parameter: name, kind, default, range, meaning."""
    rows = []
    for name, parameter in parameters.items():
        default, comment = entries[(section, 'ros__parameters', name)]
        limits = '' if parameter.low is None else f'{parameter.low:g} to {parameter.high:g}'
        rows.append((code(name), parameter.kind.__name__, code(default), limits,
                     comment or parameter.description))
    return rows


def nodes():
    """Return the sections of all nodes."""
    entries = {names: (value, comment) for names, value, comment in yaml_entries(
        ROOT / 'config' / 'params.yaml')}
    check_complete(ROOT / 'config' / 'params.yaml', entries)
    common = {parameter.name: parameter for parameter in importlib.import_module(
        'gripsim_ros.ros.nodes.base.node_base').COMMON_PARAMETERS}
    head = ('parameter', 'kind', 'default', 'range', 'meaning')
    lines = ['## Nodes', '', 'Parameters are read once, at start; defaults are in '
             '`config/params.yaml`. Names of', 'topics and services are relative unless they '
             'begin with `/`; `~` is the name of the node.', '',
             '### All nodes', '', *table(head, parameter_rows('/**', common, entries)),
             'All publish `/diagnostics` (`DiagnosticArray`) once a second, and serve the '
             'parameters and the lifecycle of ROS 2.', '']
    for node in SOURCES:
        section, parameters = f'/**/{node}', declared(node)
        unknown = {names[2] for names in entries if names[0] == section} - set(parameters)
        if unknown:
            raise ValueError(f'config/params.yaml: {node} does not declare {sorted(unknown)}')
        rows = parameter_rows(section, parameters, entries)
        order = list(KINDS)
        names = sorted(opened(node), key=lambda item: (order.index(item[0]), item[1]))
        lines += [f'### {node}', '', *table(head, rows), *table(
            ('', 'name', 'type'), [(KINDS[kind], code(name), code(message))
                                   for kind, name, message in names])]
    return lines


def launch_arguments():
    """Return the section of the launch file."""
    tree = ast.parse((ROOT / 'launch' / 'gripsim.launch.py').read_text(encoding='utf-8'))
    rows = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, 'id', '') == 'DeclareLaunchArgument':
            given = {word.arg: word.value for word in call.keywords}
            default = given['default_value']
            rows.append((code(call.args[0].value), code(
                default.value if isinstance(default, ast.Constant) else 'config/params.yaml'),
                given['description'].value))
    return ['## Launch arguments', '', '`ros2 launch gripsim_ros gripsim.launch.py NAME:=VALUE …`',
            '', *table(('argument', 'default', 'meaning'), rows)]


# -- commands ----------------------------------------------------------------------------


def verbs(command, words=('gripsim',)):
    """Yield the words of each command below one, and the command."""
    for word, below in getattr(command, 'commands', {}).items():
        yield from verbs(below, (*words, word))
    if not hasattr(command, 'commands'):
        yield ' '.join(words), command


def option_rows(command):
    """Return the rows of a command's options and arguments: name, default, meaning."""
    # Of arguments, click and typer do not agree in every version on who keeps the text.
    told = inspect.get_annotations(inspect.unwrap(command.callback), eval_str=True)
    return [option_row(parameter, told[parameter.name].__metadata__[0].help)
            for parameter in command.params]


def option_row(parameter, meaning):
    """Return the row of an option or argument."""
    names, value = [], parameter.metavar or ''
    if parameter.opts[0].startswith('-'):
        names = [*parameter.opts, *parameter.secondary_opts]
        value = value or ('' if parameter.is_flag else 'VALUE')
    default, told = parameter.default, parameter.show_default
    if isinstance(told, str):
        shown = told
    elif parameter.required:
        shown = 'required'
    elif isinstance(default, bool):
        shown = code(parameter.opts[0]) if default else ''
    else:
        shown = code(default) if isinstance(default, (str, int, float, Path)) else ''
    if getattr(parameter, 'multiple', False) and not re.search('repeated|several', meaning):
        meaning = f'{meaning.rstrip(".")}; may be repeated.'
    return code(f'{" / ".join(names)} {value}'.strip()), shown, meaning


def commands():
    """Return the sections of the command line."""
    app = typer.main.get_command(importlib.import_module('gripsim_ros.apps.cli.main').app)
    head = ('option', 'default', 'meaning')
    lines = ['## Commands', '', 'What they do and answer: [cli.md](cli.md). All take `--help`. Of '
             '`gripsim` itself:', '', *table(head, option_rows(app))]
    for words, command in verbs(app):
        summary = command.help.strip().split('\n')[0]
        lines += [f'### {words}', '', summary, '',
                  *table(head, option_rows(command))]
    return lines


# -- messages ----------------------------------------------------------------------------


def interface(path):
    """Return the section of one message, service or action."""
    kind = path.suffix[1:]
    lines = [f'### {path.stem} ({kind})', '']
    parts = path.read_text(encoding='utf-8').split('\n---\n')
    for title, text in zip(PARTS[kind], parts, strict=True):
        lines += ([f'**{title}**', ''] if title else []) + interface_part(path, text)
    return lines


def interface_part(path, text):
    """Return the comments that stand alone, as text, and the fields as a table."""
    lines, rows = [], []

    def end_table():
        if rows:
            lines.extend(table(('field', 'type', 'meaning'), rows))
            rows.clear()

    for line in text.splitlines():
        field = FIELD.match(line.strip())
        if line.startswith('#'):
            end_table()
            joined = line[1:].strip()
            if lines and lines[-1] and not lines[-1].startswith('|'):
                lines[-1] += ' ' + joined
            else:
                lines.append(joined)
        elif field:
            if lines and lines[-1] and not rows:
                lines.append('')
            value = f' = {field["value"]}' if field['value'] else ''
            rows.append((code(field['name'] + value), code(field['type']),
                         field['comment'] or ''))
        elif line.strip():
            raise ValueError(f'{path}: not understood: {line}')
    end_table()
    lines = [part for line in lines for part in wrapped(line)]
    return lines if not lines or not lines[-1] else [*lines, '']


def wrapped(line):
    """Return a line of text as lines of at most `WIDTH` characters; rows of tables stay whole."""
    if line.startswith('|'):
        return [line]
    return textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False) or ['']


def numbers():
    """Return the sections of the numbers of grasps and of their contacts."""
    fields = importlib.import_module('gripsim_ros.core.fields')
    planning = importlib.import_module('gripsim_ros.core.planning')
    lines = ['## Numbers of a contact', '', 'Of `contacts` in JSON, in `ContactPatch` and, after '
             '`contact_`, in exported arrays; beside them `link`.', '',
             *number_table(fields, planning.GraspContact)]
    return [*lines, '## Numbers of a grasp', '', 'In JSON below `deformation`, `settled` and '
            '`quality`, in `Grasp` and in exported arrays.', '',
            *number_table(fields, planning.RankedGrasp)]


def number_table(fields, row):
    """Return the table of the numbers that a class declares."""
    rows = [(code(number.name), fields.described_shape(number),
             fields.meaning(number).replace('``', '`')) for number in fields.declared(row)]
    return table(('name', 'kind', 'meaning'), rows)


def messages():
    """Return the sections of all interfaces."""
    folder = ROOT / 'gripsim_interfaces'
    lines = ['## Messages, services, actions', '', 'Package `gripsim_interfaces`.', '']
    for kind in ('action', 'srv', 'msg'):
        for path in sorted((folder / kind).glob(f'*.{kind}')):
            lines += interface(path)
    return lines


# -- the page ----------------------------------------------------------------------------


def exit_codes():
    """Return the section of exit codes."""
    module = importlib.import_module('gripsim_ros.apps.cli.main')
    lines = ['## Exit codes', '']
    for program, codes in EXIT_CODES.items():
        lines += [f'{program}:', '', *table(('code', 'meaning'), [
            (getattr(module, name), meaning) for name, meaning in codes])]
    lines += ['`gripsim record … -- COMMAND` passes on the code of a command that ends by itself, '
              '1 where a signal ended it.', '']
    return [*lines, 'Nodes:', '', *table(('code', 'meaning'), NODE_CODES)]


def reference():
    """Return the page."""
    lines = [HEAD, *nodes(), *launch_arguments(), *commands()]
    lines += options('planner', 'Planner options', 'Copy `config/planner.yaml`, change it, and '
                     'name the copy in `planner_config` of `grasp_planner`.')
    lines += options('mechanics', 'Mechanics options', 'The same with `config/mechanics.yaml` and '
                     '`mechanics_config` of `deformation`.')
    lines += materials() + numbers() + messages() + exit_codes()
    return '\n'.join(lines).rstrip('\n') + '\n'


def main():
    """Write or compare the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n')[0])
    parser.add_argument('--check', action='store_true', help='compare only')
    page = reference()
    if parser.parse_args().check:
        if PAGE.read_text(encoding='utf-8') != page:
            print(f'{PAGE} is not what the code says: run python tools/generate_reference.py')
            return 1
        return 0
    PAGE.write_text(page, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
