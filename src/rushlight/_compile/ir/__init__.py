"""The program that a recording gives, and the spaces that its loops go over."""
