"""What comes of a contact that is not found."""

#: Go on with the other contacts where they hold; open and draw back, for the next grasp or for
#: good; stop as it is.
KEEP, REPLAN, RELEASE, STOP = POLICIES = 'keep', 'replan', 'release', 'stop'
