"""
A suite's messages in MCAP files, and the recorded questions asked again.

``schemas`` holds the definitions that make a file readable by itself, ``mcap_file`` writes
and reads, ``recorder`` listens, ``replay`` asks again and compares.
"""
