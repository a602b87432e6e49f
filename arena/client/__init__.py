"""The authors' client for an arena's site. It uses only HTTP.

sites     addresses and logins, stored in a file of the user
site      one site: requests, problems, uploads
games     ids and lists of games, replays
events    follows a submission to its end, with retries
sending   the files that authors submit: a source file, an archive, a folder or an image
images    Docker, which folders and images need

Responses are parsed as :mod:`arena.protocol.documents`.
"""
