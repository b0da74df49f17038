"""Run the command line as ``python -m gripsim_ros.apps.cli``."""

import sys

from .main import main

sys.exit(main())
