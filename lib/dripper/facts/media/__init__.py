"""Reads images, videos and audio from a page, with their URLs, captions and roles, and the embedded
players of known sites."""
