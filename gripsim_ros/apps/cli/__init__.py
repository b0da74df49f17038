"""The command ``gripsim``: one file a verb, heavy imports only inside the verbs."""
