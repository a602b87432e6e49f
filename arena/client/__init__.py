"""Client of an arena's site, for authors' machines. Speaks HTTP only.

sites     addresses and logins, stored in a file of the user
site      one site: requests, problems, uploads
games     ids and lists of games, replays
events    follows a submission to its end, with retries
sending   the files that authors submit: a source file, an archive, a folder or an image
images    Docker, for folders and images

Responses are parsed as :mod:`arena.protocol.documents`.
"""
