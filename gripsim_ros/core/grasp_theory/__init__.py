"""What contacts, forces and loads mean to a grasp, whatever finds them."""
