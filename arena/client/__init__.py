"""An arena's site, as authors of bots use it from their machines. Knows HTTP, not what is behind it.

address   what a site's address may be
sites     where one is logged in: kept in a file of the user's
site      one site: requests, problems, uploads
reading   what it sends, with a limit
unreached why it can't be reached
events    a submission that is followed until its end
patience  how often a site that doesn't answer is asked again
documents what a site answers of accounts, submissions and bots, as frozen data
played    and of games
target    what an author names: a source file, an archive, a folder, an image
sending   that, ready to be sent
images    Docker, for folders and images
"""
