"""In-hand manipulation: the fingers alone move the held object, or together with the arm."""
