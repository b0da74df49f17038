"""What others do to the suite, done from outside: ``tools/trial.sh``."""
