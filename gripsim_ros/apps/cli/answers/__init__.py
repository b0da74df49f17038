"""Where answers of ``plan`` come from beside this process: nodes, a database, and the arm."""
