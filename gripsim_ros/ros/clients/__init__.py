"""What other programs use to ask a suite: connection, requests, starting and stopping it."""
