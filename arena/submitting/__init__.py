"""Bots of strangers on their way to the ladder.

opening.py        puts the receiver together
receiver.py       takes a file and writes it down; knows no engine, so the site may use it
uploads.py        the folder of received files
pipeline.py       inspects, loads, qualifies and enters, one step after another; needs the engine
qualification.py  which games a bot has to play, and what became of it; pure
stages.py         what is said of a submission; hints.py: what to try
"""
