"""Programs for people: the command line, reports, the browser view, sweeps, the doctor."""
