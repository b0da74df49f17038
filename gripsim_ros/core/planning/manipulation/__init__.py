"""Moving the held object: by the fingers, then with the arm."""
