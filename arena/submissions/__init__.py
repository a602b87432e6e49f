"""Submissions: untrusted bots that authors want to add to the ladder.

receiver.py  receives and records a file; needs no engine, so the site may use it
uploads.py   the folder of received files
pipeline.py  inspects, loads, qualifies and enters bots, or enters operators' bots directly; needs the engine
document.py  a submission as the site and the command line show it
"""
